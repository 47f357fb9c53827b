//===- PartReshard.cpp - moves on, and between, parts of the mesh ---------===//

#include "weft/layout/ExchangeTraffic.h"
#include "weft/layout/Sizes.h"
#include "weft/passes/sharding/resharding/ReshardSteps.h"

#include <algorithm>
#include <iterator>

using namespace weft;

/// The mesh on which devices of a part move values among themselves: fixed axes
/// have one coordinate.
static Mesh meshOfPart(const Mesh &mesh, const MeshPart &part) {
  Mesh within = mesh;
  for (auto [axis, coordinate] : part)
    within.axes[axis].size = 1;
  if (!part.empty())
    within.devices.clear(); // positions are renumbered
  return within;
}

namespace {
/// Joins the steps from one layout to another.
class PartPlan {
public:
  PartPlan(const Mesh &mesh [[clang::lifetimebound]],
           llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
           const Layout &from,
           const ReshardOptions &options [[clang::lifetimebound]])
      : mesh(mesh), shape(shape), elementBytes(elementBytes), options(options),
        at(from) {
    plan.optimal = true;
  }
  /// Moves among the devices of the layout's part, which have what they need.
  void within(const Layout &to);
  /// Sends to each device of the layout's part what it lacks.
  void exchange(const Layout &to);

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const ReshardOptions &options;
  Layout at; ///< layout of the value so far
  ReshardPlan plan;
};
} // namespace

void PartPlan::within(const Layout &to) {
  Layout inner = onPart(at, to.part), target = to;
  inner.part.clear();
  target.part.clear();
  ReshardPlan steps = reshard::planOnMesh(meshOfPart(mesh, to.part), shape,
                                          elementBytes, inner, target, options);
  for (ReshardStep &step : steps.steps) {
    step.result.part = to.part;
    plan.steps.push_back(std::move(step));
  }
  plan.bytesReceived += steps.bytesReceived;
  plan.lowerBound += steps.lowerBound;
  plan.seconds += steps.seconds;
  plan.optimal &= steps.optimal;
  at = to;
}

/// The axes along which devices give each other something: where shards are the
/// same on both parts, those that the parts fix only.
static SubAxes axesBetween(const Mesh &mesh, const Layout &from,
                           const Layout &to) {
  if (from.dims != to.dims)
    return allAxes(mesh);
  SubAxes axes;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    if (fixes(from.part, axis) || fixes(to.part, axis))
      axes.push_back(fullAxis(mesh, axis));
  return axes;
}

void PartPlan::exchange(const Layout &to) {
  ReshardStep step;
  step.kind = ReshardStepKind::Exchange;
  step.axes = axesBetween(mesh, at, to);
  step.result = to;
  step.bytes =
      saturatingMultiply(receiveLowerBound(mesh, at, to, shape), elementBytes);
  int64_t sent =
      saturatingMultiply(mostSent(mesh, at, to, shape), elementBytes);
  Link link = slowestLink(mesh, step.axes);
  step.seconds = link.latency + link.moving(std::max(step.bytes, sent));
  plan.bytesReceived += step.bytes;
  plan.lowerBound += step.bytes;
  plan.seconds += step.seconds;
  plan.steps.push_back(std::move(step));
  at = to;
}

/// Whether every device of `to`'s part has the value in a layout over the axes
/// that the devices of the part share.
static bool isHeldBy(const Layout &from, const Layout &to) {
  return includes(from.part, to.part) &&
         onPart(from, to.part).dims == from.dims;
}

llvm::SmallVector<Layout, 3>
weft::stopsBetween(const Mesh &mesh, const Layout &from, const Layout &to) {
  llvm::SmallVector<Layout, 3> stops;
  Layout at = normalise(mesh, from), target = normalise(mesh, to);
  Layout moved = target;
  moved.partial.clear();
  moved = normalise(mesh, moved);
  if (at.part != target.part) {
    if (at.isPartial()) {
      // Shards of the target's axes are summed where the target has them.
      at = onPart(moved, at.part);
      stops.push_back(at);
    }
    if (!isHeldBy(at, moved))
      stops.push_back(moved);
  }
  if (stops.empty() || stops.back() != target)
    stops.push_back(target);
  return stops;
}

bool weft::isBetweenParts(const Layout &from, const Layout &to) {
  return from.part != to.part && (from.isPartial() || !isHeldBy(from, to));
}

MeshPart weft::moversBetween(const Layout &from, const Layout &to) {
  if (!isBetweenParts(from, to))
    return to.part;
  MeshPart common;
  std::ranges::set_intersection(from.part, to.part, std::back_inserter(common));
  return common;
}

ReshardPlan weft::planReshard(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                              int64_t elementBytes, const Layout &from,
                              const Layout &to, const ReshardOptions &options) {
  if (from.part.empty() && to.part.empty())
    return reshard::planOnMesh(mesh, shape, elementBytes, from, to, options);
  PartPlan plan(mesh, shape, elementBytes, normalise(mesh, from), options);
  for (const Layout &stop : stopsBetween(mesh, from, to))
    if (isBetweenParts(plan.at, stop))
      plan.exchange(stop);
    else
      plan.within(stop);
  return plan.plan;
}
