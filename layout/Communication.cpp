//===- Communication.cpp - bytes and axes of communications ---------------===//

#include "weft/layout/Communication.h"

#include "weft/layout/ExchangeTraffic.h"
#include "weft/layout/PermuteTraffic.h"
#include "weft/layout/RingTraffic.h"
#include "weft/layout/Sizes.h"

#include <algorithm>

using namespace weft;

int64_t LocalArray::bytes() const {
  return tensorBytes(shape, static_cast<int64_t>(byteWidth(type)));
}

static int64_t totalBytes(std::span<const LocalArray> arrays) {
  int64_t bytes = 0;
  for (const LocalArray &array : arrays)
    bytes = saturatingAdd(bytes, array.bytes());
  return bytes;
}

namespace {
/// Counts the bytes of each kind.
struct ByteCounter {
  const GroupOver &group;
  std::span<const LocalArray> sources, targets;

  int64_t inRing(RingKind ring) const {
    return ringBytes(ring, shardCount(group.digits), totalBytes(sources),
                     totalBytes(targets));
  }
  int64_t operator()(const Combination &its) const {
    return inRing(its.dim ? RingKind::ReduceScatter : RingKind::AllReduce);
  }
  int64_t operator()(const Movement &its) const {
    if (its.isRing)
      return inRing(its.to.isReplicated() ? RingKind::AllGather
                                          : RingKind::AllToAll);
    int64_t elements =
        its.boxes.empty()
            ? mostSent(group.mesh, its.from, its.to, its.shape)
            // All groups move alike.
            : mostSent(its.boxed(), group.mesh,
                       groupsOver(group.mesh.axes, group.digits).groups[0]);
    return saturatingMultiply(
        elements, static_cast<int64_t>(byteWidth(sources.front().type)));
  }
  /// Each element at a position that is data may come from another device.
  int64_t operator()(const Fetching &its) const {
    int64_t bytes = totalBytes(targets);
    int64_t count = targets.front().shape[static_cast<size_t>(its.dim)];
    if (!its.positions || count == 0)
      return bytes;
    return saturatingMultiply(
        mostPositionsSent(*its.positions, shardCount(group.digits), count),
        bytes / count);
  }
  int64_t operator()(const Sending &its) const {
    return permuteBytes(its.senders, totalBytes(sources));
  }
  int64_t operator()(const HostCall &) const { return 0; }
};
} // namespace

DeviceGroups weft::groupsOf(const Communication &communication,
                            const GroupOver &group) {
  DeviceGroups all = groupsOver(group.mesh.axes, group.digits);
  const auto *its = std::get_if<Movement>(&communication);
  if (!its || its->from.part == its->to.part)
    return all;
  auto isSide = [&](int64_t position) {
    return holds(group.mesh, its->from, position) ||
           holds(group.mesh, its->to, position);
  };
  DeviceGroups apart;
  apart.groupOf.resize(all.groupOf.size());
  apart.memberOf.resize(all.memberOf.size());
  auto add = [&](DeviceGroup members) {
    for (size_t m = 0; m < members.size(); ++m) {
      auto position = static_cast<size_t>(members[m]);
      apart.groupOf[position] = static_cast<int64_t>(apart.groups.size());
      apart.memberOf[position] = static_cast<int64_t>(m);
    }
    if (!members.empty())
      apart.groups.push_back(std::move(members));
  };
  for (const DeviceGroup &members : all.groups) {
    DeviceGroup sides;
    std::ranges::copy_if(members, std::back_inserter(sides), isSide);
    add(std::move(sides));
    for (int64_t position : members)
      if (!isSide(position))
        add({position});
  }
  return apart;
}

int64_t weft::bytesSent(const Communication &communication,
                        const GroupOver &group,
                        std::span<const LocalArray> sources,
                        std::span<const LocalArray> targets) {
  return std::visit(ByteCounter{group, sources, targets}, communication);
}

/// The axes that a layout of the movement uses, each once and as a full axis.
static SubAxes axesOfLayouts(const Mesh &mesh, const Movement &its) {
  SubAxes axes;
  std::vector<const Layout *> layouts = {&its.from, &its.to};
  for (const MovedSource &source : its.others)
    layouts.push_back(&source.layout);
  for (const Layout *layout : layouts)
    for (const SubAxes &dim : layout->dims)
      for (const SubAxis &digit : dim)
        if (std::ranges::none_of(axes, [&](const SubAxis &known) {
              return known.axis == digit.axis;
            }))
          axes.push_back(fullAxis(mesh, digit.axis));
  // A move between parts of the mesh is along the axes that one of them fixes.
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    if (its.from.part != its.to.part &&
        (fixes(its.from.part, axis) || fixes(its.to.part, axis)))
      axes.push_back(fullAxis(mesh, axis));
  return axes;
}

SubAxes weft::linksOf(const Communication &communication,
                      const GroupOver &group) {
  const auto *its = std::get_if<Movement>(&communication);
  return its && !its->isRing
             ? axesOfLayouts(group.mesh, *its)
             : SubAxes(group.digits.begin(), group.digits.end());
}

bool weft::keepsArraysApart(const Communication &communication) {
  return std::holds_alternative<Combination>(communication);
}

bool weft::worksInPlace(const Communication &communication) {
  const auto *its = std::get_if<Combination>(&communication);
  return its && !its->dim;
}
