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

ReshardCost::ReshardCost(const Mesh &mesh, const ReshardOptions &options)
    : mesh(mesh), plans(mesh, options) {
  auto isLikeFirst = [&](const MeshAxis &axis) {
    return axis.latency == mesh.axes.front().latency &&
           axis.bandwidth == mesh.axes.front().bandwidth;
  };
  if (!mesh.axes.empty() && llvm::all_of(mesh.axes, isLikeFirst) &&
      options.allowExchange)
    everyLink = {mesh.axes.front().latency, mesh.axes.front().bandwidth};
}

/// The part of a dimension's shard after a move that a device holds before it, at
/// the device that holds least; as sizes of the dimension's shards that nest.
/// Nothing if the lists differ at some axis: then a device holds nothing.
static std::optional<int64_t> leastKept(int64_t size, const SubAxes &before,
                                        const SubAxes &after) {
  size_t common = std::min(before.size(), after.size());
  if (!std::equal(before.begin(), before.begin() + common, after.begin()))
    return std::nullopt;
  return size / std::max(shardCount(before), shardCount(after));
}

std::optional<Price> ReshardCost::ofExchange(RankedTensorType type,
                                             const Layout &from,
                                             const Layout &to) const {
  if (!everyLink || from.isPartial() || to.isPartial())
    return std::nullopt;
  auto isWhole = [&](const SubAxis &sub) {
    return sub.size == mesh.axes[sub.axis].size;
  };
  int64_t wanted = bytesOf(type.getElementType()), kept = wanted;
  for (auto [size, before, after] :
       llvm::zip_equal(type.getShape(), from.dims, to.dims)) {
    if (!llvm::all_of(before, isWhole) || !llvm::all_of(after, isWhole) ||
        size % shardCount(before) != 0 || size % shardCount(after) != 0)
      return std::nullopt;
    wanted *= size / shardCount(after);
    kept *= leastKept(size, before, after).value_or(0);
  }
  int64_t bytes = wanted - kept;
  return bytes == 0 ? Price() : Price::of(*everyLink, bytes);
}

Price ReshardCost::between(Value value, const Layout &from, const Layout &to) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || from == to)
    return {};
  if (std::optional<Price> price = ofExchange(type, from, to))
    return *price;
  return priceOf(plans.plan(value, from, to));
}

Price ReshardCost::priceOf(const ReshardPlan &plan) const {
  double moving = 0;
  int64_t bytes = 0;
  for (const ReshardStep &step : plan.steps) {
    moving += slowestLink(mesh, step.axes).moving(step.moved);
    bytes += step.moved;
  }
  Price price = {femtoseconds(moving), 0, bytes};
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
  if (std::optional<Price> price = ofExchange(type, from, to))
    return *price;
  llvm::SmallVector<int64_t> shape = sampleShape(type.getShape(), from, to);
  if (shape.empty())
    return between(value, from, to);
  Price sample =
      priceOf(plans.plan(value, shape, /*elementBytes=*/1, from, to));
  double part = double(type.getNumElements()) *
                double(bytesOf(type.getElementType())) /
                double(ShapedType::getNumElements(shape));
  auto whole = [&](int64_t ofSample) {
    return int64_t(std::min(double(ofSample) * part, 0x1p62));
  };
  return {whole(sample.moving), sample.waiting, whole(sample.bytes)};
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
