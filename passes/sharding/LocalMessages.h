//===- LocalMessages.h - what an op's local form sends ----------*- C++ -*-===//
//
// A sort of 8x64 over d=4 whose rows are split sends nothing. If its columns
// are split, every device sorts its block, and the local form exchanges samples
// and elements: these messages are a part of the price of that sharding.
//
//   LocalMessages messages(mesh);
//   messages.of(sort, columnsSplit)    as much as `explain` counts
//
// The local form is built in a block of its own and its collectives are
// counted, so that the price is that of what partitioning builds. Operands
// that are fetched before (FetchedOperands.h) have a price of their own.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_LOCALMESSAGES_H
#define WEFT_PASSES_SHARDING_LOCALMESSAGES_H

#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/resharding/Price.h"

#include <map>
#include <vector>

namespace weft {

class LocalMessages {
public:
  explicit LocalMessages(const Mesh &mesh) : mesh(mesh) {}

  /// The price of the messages that the local form of an op sends under a
  /// sharding. A part of an op sends none.
  Price of(const OpWithRule &op, const OpSharding &sharding);
  /// The price of these and of all that is fetched for a whole op, also of one
  /// with parts, counted anew.
  Price ofAll(const OpWithRule &op, const OpSharding &sharding) const;

private:
  Price built(const OpWithRule &op, const OpSharding &sharding,
              bool withFetches) const;
  Mesh mesh;
  std::map<std::vector<int64_t>, Price> known; ///< indexed by op and layouts
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_LOCALMESSAGES_H
