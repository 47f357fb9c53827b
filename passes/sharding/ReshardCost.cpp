//===- ReshardCost.cpp - what a reshard in IR costs -----------------------===//

#include "weft/passes/sharding/ReshardCost.h"

#include "weft/passes/sharding/OpSharding.h"

#include <cmath>

using namespace weft;
using namespace mlir;

Layout weft::layoutIn(Value value) {
  return getLayout(value.getType()).getLayout();
}

MoveCost ReshardCost::between(RankedTensorType type, const Layout &from,
                              const Layout &to) {
  if (from == to)
    return {};
  const ReshardPlan &plan = cache.plan(
      type.getShape(), elementBytes(type.getElementType()), from, to);
  return {std::llround(plan.seconds * 1e15), plan.bytesReceived};
}

MoveCost ReshardCost::of(ReshardOp reshard) {
  return between(cast<RankedTensorType>(reshard.getType()),
                 layoutIn(reshard.getInput()), layoutIn(reshard.getResult()));
}
