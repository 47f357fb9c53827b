//===- ReshardCost.cpp - the price of a reshard in IR ---------------------===//

#include "weft/passes/sharding/ReshardCost.h"

#include "weft/dialects/coll/Coll.h"

#include <algorithm>

using namespace weft;
using namespace mlir;

Layout weft::layoutIn(Value value) {
  return getLayout(value.getType()).getLayout();
}

Price ReshardCost::between(Value value, const Layout &from, const Layout &to) {
  if (!isa<RankedTensorType>(value.getType()) || from == to)
    return {};
  const ReshardPlan &plan = plans.plan(value, from, to);
  double moving = 0;
  for (const ReshardStep &step : plan.steps)
    moving += slowestLink(mesh, step.axes).moving(step.bytes);
  Price price = {femtoseconds(moving), 0, plan.bytesReceived};
  price.waiting =
      std::max<int64_t>(0, femtoseconds(plan.seconds) - price.moving);
  return price;
}

Price ReshardCost::of(ReshardOp reshard) {
  return between(reshard.getResult(), layoutIn(reshard.getInput()),
                 layoutIn(reshard.getResult()));
}

Price ReshardCost::sending(const OpWithRule &op,
                           const OpSharding &sharding) const {
  auto sends = dyn_cast<coll::SendingOpInterface>(op.op);
  if (!sends)
    return {};
  return Price::of(slowestLink(mesh, sends.getLinks()),
                   bytesSentBy(op, sharding));
}
