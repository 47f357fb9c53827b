//===- OpChoices.h - the shardings that an op may run with ----------*- C++ -*-===//
//
// add of two 8x12 over d=4 may run by rows, by columns or whole, and on two
// summands over d, whose sum it passes on:
//
//   [d,-] [d,-] -> [d,-]    [-,d] [-,d] -> [-,d]    [-,-] [-,-] -> [-,-]
//   [-,-]+sum(d) [-,-]+sum(d) -> [-,-]+sum(d)
//
// Each axis may shard each factor that it divides, or none. If these are more
// than kMostChoices, only the shardings that the op's tensors ask for are
// choices. A choice that repeats work pays for what it does in addition to the
// present one.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_OPCHOICES_H
#define WEFT_PASSES_SHARDING_PROPAGATION_OPCHOICES_H

#include "weft/passes/sharding/propagation/LayoutTable.h"
#include "weft/passes/sharding/propagation/MoveCosts.h"

#include <map>

namespace weft {

constexpr size_t kMostChoices = 512;

/// The choices of a piece, and of all pieces that are equal to it.
struct ChoiceList {
  /// The layouts of one tensor; without a space if it has no layout.
  struct Tensor {
    LayoutSpace *space = nullptr;
    std::vector<unsigned> layouts; ///< different ones, by number
    std::vector<unsigned> placeOf; ///< the place in `layouts` by choice
    std::vector<unsigned> reduced; ///< the layouts without partial axes
  };
  std::vector<OpSharding> choices;
  std::vector<Price> rest; ///< repeated work, fetches and own messages, each
  std::vector<Tensor> tensors;
};

/// Lists the choices of pieces of ops under one table.
class OpChoices {
public:
  OpChoices(const LayoutTable &table [[clang::lifetimebound]],
            ShardingPrices &pricing [[clang::lifetimebound]],
            MoveCosts &costs [[clang::lifetimebound]]);

  /// The choices of a piece; the first is `now`, which it runs with so far.
  const ChoiceList &of(const OpWithRule &piece, const OpSharding &now);

private:
  using Key = std::vector<int64_t>;

  bool hasLayout(mlir::Value value) const;
  Key keyOf(const OpWithRule &piece, const OpSharding &now) const;
  std::vector<OpSharding> list(const OpWithRule &piece,
                               const OpSharding &now) const;
  /// The axes that may shard values at this op.
  SubAxes allowedAxes(const OpWithRule &piece) const;
  std::vector<FactorAxes> assignments(const OpWithRule &piece) const;
  void addPassed(const OpWithRule &piece, const SubAxes &axes,
                 std::vector<OpSharding> &choices) const;
  void addTensors(const OpWithRule &piece, ChoiceList &list);

  const LayoutTable &table;
  ShardingPrices &pricing;
  MoveCosts &costs;
  const Mesh &mesh;
  /// Whether some value is split over two axes in another order than the mesh's.
  bool hasOtherOrder = false;
  std::map<Key, ChoiceList> lists;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_OPCHOICES_H
