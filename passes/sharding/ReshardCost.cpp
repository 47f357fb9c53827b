//===- ReshardCost.cpp - what a reshard in IR costs -----------------------===//

#include "weft/passes/sharding/ReshardCost.h"


#include <cmath>

using namespace weft;
using namespace mlir;

Layout weft::layoutIn(Value value) {
  return getLayout(value.getType()).getLayout();
}

MoveCost ReshardCost::between(Value value, const Layout &from,
                              const Layout &to) {
  if (from == to)
    return {};
  const ReshardPlan &plan = plans.plan(value, from, to);
  return {std::llround(plan.seconds * 1e15), plan.bytesReceived};
}

MoveCost ReshardCost::of(ReshardOp reshard) {
  return between(reshard.getResult(), layoutIn(reshard.getInput()),
                 layoutIn(reshard.getResult()));
}
