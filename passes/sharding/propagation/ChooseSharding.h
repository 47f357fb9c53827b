//===- ChooseSharding.h - the sharding of one op, and its price -*- C++ -*-===//
//
// add of [d, -] and [-, d], both 8x12 f32 over d=4, result [d, -]: the
// candidates are rows=d and columns=d. By rows the second operand moves, one
// all_to_all of 72 bytes; by columns the first and the result move. The choice
// is rows.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_CHOOSESHARDING_H
#define WEFT_PASSES_SHARDING_PROPAGATION_CHOOSESHARDING_H

#include "weft/passes/sharding/FetchedOperands.h"
#include "weft/passes/sharding/LocalMessages.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/ReshardCost.h"
#include "weft/passes/sharding/resharding/TargetRates.h"

#include <array>
#include <map>
#include <vector>

namespace weft {

/// The price of an op's sharding.
struct OpPrice {
  /// The price, for each operand, from the table's layout to the required one.
  llvm::SmallVector<Price, 3> operands;
  /// The price of moving results to the table's layouts, partial sums included.
  Price results;
  /// The price of fetches for window and shift factors and of the bytes that the
  /// op itself or its local form sends.
  Price rest;
  /// The time of one device's share of the work, so that repeating work is not
  /// free.
  Price work;

  Price total() const;
};

/// The price of work beside that of another sharding. Repeated work costs in full;
/// less work decides between shardings that send as many bytes.
Price workBeside(const Price &work, const Price &other);

/// A part's share of the sharding of its op.
OpSharding shareOf(const OpWithRule &part, const OpWithRule &op,
                   const OpSharding &sharding);
/// Enters a part's sharding in that of its op.
void enterShare(const OpWithRule &part, const OpWithRule &op,
                const OpSharding &share, OpSharding &sharding);

/// A fetch of the positions of an operand that other devices hold.
struct OperandFetch {
  unsigned operand = 0;
  /// The range and the axes; equal ones of one value are one movement.
  std::vector<int64_t> positions;
  Price price;
};

/// Prices on one mesh; a move in a region is priced on the region's mesh.
class ShardingPrices {
public:
  explicit ShardingPrices(const Mesh &mesh,
                          const TargetRates &rates = ratesOfCpus(),
                          const ReshardOptions &options = {})
      : mesh(mesh), iterationsPerSecond(rates.iterations),
        reshards(mesh, options), messages(mesh) {}
  const Mesh &onMesh() const { return mesh; }
  OpPrice of(const OpWithRule &op, const OpSharding &sharding,
             const TensorLayouts &layouts);
  /// The time of an op's work if one device does all of it.
  Price workOfOne(const OpWithRule &op) const;
  /// The fetches for window and shift factors of an op without parts.
  std::vector<OperandFetch> fetches(const OpWithRule &op,
                                    const OpSharding &sharding);
  /// The price of moving a value to another layout; none if it is not a ranked
  /// tensor.
  Price move(mlir::Value value, const Layout &from, const Layout &to) {
    return reshards.between(value, from, to);
  }

  /// The price of a move by proportion, which is faster for many shapes.
  Price moveInProportion(mlir::Value value, const Layout &from,
                         const Layout &to) {
    return reshards.inProportion(value, from, to);
  }

private:
  OpPrice ofParts(const OpWithRule &op, const OpSharding &sharding,
                  const TensorLayouts &layouts);
  /// The positions of a dimension that the busiest of `shards` devices sends if
  /// each receives its range.
  int64_t positionsSent(const FetchedRange &range, int64_t size,
                        int64_t shards);
  Price work(const OpWithRule &op, const OpSharding &sharding) const;

  Mesh mesh;
  double iterationsPerSecond;
  ReshardCost reshards;
  LocalMessages messages;
  std::map<std::array<int64_t, 8>, int64_t> sent; ///< positionsSent
};

/// Candidates for the axes of the factors of an op with one part, or of a part.
/// In each, one tensor has priority: for its axes, or also for its unsplit
/// factors. `conflict` tells whether two factors want an axis, or two tensors
/// other axes for a factor.
std::vector<FactorAxes> listCandidates(const Mesh &mesh, const OpWithRule &op,
                                       const TensorLayouts &layouts,
                                       bool &conflict);

/// The cheapest candidate of each part, the first of equal ones. A sum that may be added to
/// another is replaced by gathers of operands only if half of its price is
/// higher than theirs.
OpSharding chooseSharding(const Mesh &mesh, const OpWithRule &op,
                          const TensorLayouts &layouts, ShardingPrices &prices,
                          bool &conflict);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_CHOOSESHARDING_H
