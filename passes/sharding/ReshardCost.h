//===- ReshardCost.h - the price of a reshard in IR -------------*- C++ -*-===//
//
// bf16 [data,-] -> [-,-] of 16x8 on data=4 costs 192 bytes a device and the
// latency of one all-gather; of an equal layout, nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_RESHARDCOST_H
#define WEFT_PASSES_SHARDING_RESHARDCOST_H

#include "weft/dialects/weft/Weft.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/RegionPlans.h"
#include "weft/passes/sharding/resharding/Price.h"

namespace weft {

/// Costs of moving values between layouts, each on the mesh of its region.
class ReshardCost {
public:
  explicit ReshardCost(const Mesh &mesh, const ReshardOptions &options = {});
  /// The price of moving a value from one layout to another; none if it is not
  /// a ranked tensor.
  Price between(mlir::Value value, const Layout &from, const Layout &to);
  Price of(ReshardOp reshard);
  /// The price of a move, if all shards are even, in proportion to the bytes
  /// from the plan of a large tensor of this rank: one plan for all shapes.
  Price inProportion(mlir::Value value, const Layout &from, const Layout &to);
  /// The price of the bytes that an op, or a part of one, itself sends with
  /// these layouts.
  Price sending(const OpWithRule &op, const OpSharding &sharding) const;

private:
  Price priceOf(const ReshardPlan &plan) const;
  /// The price of a move without summands between even shards over whole axes,
  /// if all links are alike: an exchange meets the lower bound of its plan.
  std::optional<Price> ofExchange(mlir::RankedTensorType type,
                                  const Layout &from, const Layout &to) const;

  Mesh mesh;
  std::optional<Link> everyLink; ///< the link of each axis, if they are alike
  RegionPlans plans;
};

/// The layout in the type of a ranked tensor.
Layout layoutIn(mlir::Value value);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_RESHARDCOST_H
