//===- ReshardCost.cpp - the price of a reshard in IR ---------------------===//

#include "weft/passes/sharding/ReshardCost.h"

#include "weft/dialects/weft/ElementTypes.h"

#include <algorithm>
#include <numeric>

using namespace weft;
using namespace mlir;

Layout weft::layoutIn(Value value) {
  return getLayout(value.getType()).getLayout();
}

Price ReshardCost::between(Value value, const Layout &from, const Layout &to) {
  if (!isa<RankedTensorType>(value.getType()) || from == to)
    return {};
  return priceOf(plans.plan(value, from, to));
}

Price ReshardCost::priceOf(const ReshardPlan &plan) const {
  double moving = 0;
  for (const ReshardStep &step : plan.steps)
    moving += slowestLink(mesh, step.axes).moving(step.bytes);
  Price price = {femtoseconds(moving), 0, plan.bytesReceived};
  price.waiting =
      std::max<int64_t>(0, femtoseconds(plan.seconds) - price.moving);
  return price;
}

/// A shape of about a gigabyte whose shards are even in both layouts; empty if
/// those of `shape` are not.
static llvm::SmallVector<int64_t> sampleShape(llvm::ArrayRef<int64_t> shape,
                                              const Layout &from,
                                              const Layout &to) {
  llvm::SmallVector<int64_t> sample;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t shards =
        std::lcm(shardCount(from.dims[dim]), shardCount(to.dims[dim]));
    if (size % shards != 0)
      return {};
    sample.push_back(shards);
  }
  constexpr int64_t kBytes = int64_t(1) << 30;
  if (!sample.empty())
    sample.front() *=
        std::max<int64_t>(1, kBytes / ShapedType::getNumElements(sample));
  return sample;
}

Price ReshardCost::inProportion(Value value, const Layout &from,
                                const Layout &to) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || from == to)
    return {};
  llvm::SmallVector<int64_t> shape = sampleShape(type.getShape(), from, to);
  if (shape.empty())
    return between(value, from, to);
  Price sample =
      priceOf(plans.plan(value, shape, /*elementBytes=*/1, from, to));
  double part = double(type.getNumElements()) *
                double(bytesOf(type.getElementType())) /
                double(ShapedType::getNumElements(shape));
  return {int64_t(double(sample.moving) * part), sample.waiting,
          int64_t(double(sample.bytes) * part)};
}

Price ReshardCost::of(ReshardOp reshard) {
  return between(reshard.getResult(), layoutIn(reshard.getInput()),
                 layoutIn(reshard.getResult()));
}

Price ReshardCost::sending(const OpWithRule &op,
                           const OpSharding &sharding) const {
  std::optional<SubAxes> links = linksUsedBy(op);
  if (!links)
    return {};
  return Price::of(slowestLink(mesh, *links), bytesSentBy(op, sharding));
}
