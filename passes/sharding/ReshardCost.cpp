//===- ReshardCost.cpp - what a reshard in IR costs -----------------------===//

#include "weft/passes/sharding/ReshardCost.h"

#include "weft/dialects/coll/Coll.h"

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

MoveCost ReshardCost::sending(Operation *op, const OpSharding &sharding) const {
  auto sends = dyn_cast<coll::SendingOpInterface>(op);
  if (!sends)
    return {};
  int64_t bytes = bytesSentBy(op, sharding);
  double seconds = 0;
  for (const SubAxis &axis : sends.getLinks())
    seconds = std::max(seconds, double(bytes) / mesh.axes[axis.axis].bandwidth);
  return {std::llround(seconds * 1e15), bytes};
}
