//===- Layout.cpp - where the elements of a tensor live -------------------===//

#include "weft/layout/Layout.h"

#include <algorithm>

using namespace weft;

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

int64_t Mesh::size() const {
  int64_t product = 1;
  for (const MeshAxis &axis : axes)
    product *= axis.size;
  return product;
}

std::optional<unsigned> Mesh::find(std::string_view name) const {
  for (unsigned index = 0; index < axes.size(); ++index)
    if (axes[index].name == name)
      return index;
  return std::nullopt;
}

int64_t Mesh::coordinate(int64_t position, unsigned axis) const {
  return position / strideOf(axes, axis) % axes[axis].size;
}

static std::string invalidDevices(const Mesh &mesh) {
  if (mesh.devices.empty())
    return {};
  if (static_cast<int64_t>(mesh.devices.size()) != mesh.size())
    return "mesh of " + std::to_string(mesh.size()) + " positions names " +
           std::to_string(mesh.devices.size()) + " devices";
  std::vector<int64_t> sorted(mesh.devices);
  std::ranges::sort(sorted);
  if (sorted.front() < 0)
    return "device " + std::to_string(sorted.front()) + " is negative";
  auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end())
    return "device " + std::to_string(*twice) + " is named twice";
  return {};
}

std::string Mesh::invalidReason() const {
  // Planning has tables with a row for each device.
  constexpr int64_t mostDevices = 1 << 20;
  int64_t product = 1;
  for (unsigned index = 0; index < axes.size(); ++index) {
    const MeshAxis &axis = axes[index];
    if (axis.name.empty())
      return "axis " + std::to_string(index) + " has no name";
    if (axis.size < 1)
      return "axis \"" + axis.name + "\" has size " +
             std::to_string(axis.size) + ", the least is 1";
    if (*find(axis.name) != index)
      return "axis \"" + axis.name + "\" is declared twice";
    if (product > mostDevices / axis.size)
      return "mesh has more than " + std::to_string(mostDevices) +
             " devices at axis \"" + axis.name + "\"";
    product *= axis.size;
    if (!(axis.latency >= 0) || !(axis.bandwidth > 0))
      return "axis \"" + axis.name +
             "\" needs a latency of at least 0 and a bandwidth above 0";
  }
  return invalidDevices(*this);
}

//===----------------------------------------------------------------------===//
// Sub-axes
//===----------------------------------------------------------------------===//

int64_t weft::deviceAt(const Mesh &mesh, int64_t position) {
  return mesh.devices.empty() ? position : mesh.devices[position];
}

int64_t weft::coordinate(const Mesh &mesh, int64_t position,
                         std::span<const SubAxis> axes) {
  return coordinate(std::span(mesh.axes), position, std::span(axes));
}

SubAxes weft::normalise(const Mesh &mesh, std::span<const SubAxis> axes) {
  SubAxes result;
  for (const SubAxis &sub : axes) {
    if (sub.size == 1)
      continue;
    if (!result.empty() && result.back().axis == sub.axis &&
        result.back().skip * result.back().size == sub.skip)
      result.back().size *= sub.size;
    else
      result.push_back(sub);
  }
  return result;
}

SubAxis weft::fullAxis(const Mesh &mesh, unsigned axis) {
  return {axis, 1, mesh.axes[axis].size};
}

SubAxes weft::allAxes(const Mesh &mesh) {
  SubAxes axes;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    axes.push_back(fullAxis(mesh, axis));
  return axes;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static void append(SubAxes &axes, const SubAxes &more) {
  axes.insert(axes.end(), more.begin(), more.end());
}

Layout Layout::replicated(int64_t rank) {
  Layout layout;
  layout.dims.resize(rank);
  return layout;
}

bool Layout::isReplicated() const {
  return partial.empty() && std::ranges::all_of(dims, &SubAxes::empty);
}

Layout weft::normalise(const Mesh &mesh, Layout layout) {
  for (SubAxes &axes : layout.dims)
    axes = normalise(mesh, axes);
  std::ranges::sort(layout.partial);
  layout.partial = normalise(mesh, layout.partial);
  if (layout.partial.empty())
    layout.reduce = ReduceKind::Sum;
  std::erase_if(layout.part, [&](const AxisCoordinate &at) {
    return mesh.axes[at.axis].size == 1;
  });
  std::ranges::sort(layout.part);
  return layout;
}

Layout weft::compose(const Layout &outer, const Layout &inner) {
  Layout result = outer;
  for (size_t d = 0; d < result.dims.size(); ++d)
    append(result.dims[d], inner.dims[d]);
  append(result.partial, inner.partial);
  if (inner.isPartial())
    result.reduce = inner.reduce;
  return result;
}

std::string weft::invalidReason(const Mesh &mesh, const Layout &layout,
                                int64_t rank) {
  if (static_cast<int64_t>(layout.dims.size()) != rank)
    return "layout has " + std::to_string(layout.dims.size()) +
           " dimensions, the tensor " + std::to_string(rank);
  SubAxes all;
  for (const SubAxes &axes : layout.dims)
    append(all, axes);
  append(all, layout.partial);
  std::span<const MeshAxis> axes(mesh.axes);
  if (std::string reason = invalidReason(axes, std::span(all)); !reason.empty())
    return reason;
  if (std::string reason = invalidReason(axes, layout.part); !reason.empty())
    return reason;
  for (const SubAxis &sub : all)
    if (fixes(layout.part, sub.axis))
      return "layout uses axis \"" + mesh.axes[sub.axis].name +
             "\", of which its part has one coordinate only: " +
             describe(axes, layout.part);
  return {};
}

bool weft::holds(const Mesh &mesh, const Layout &layout, int64_t position) {
  return isIn(mesh.axes, layout.part, position);
}

Layout weft::onPart(Layout layout, const MeshPart &part) {
  auto isFixed = [&](const SubAxis &sub) { return fixes(part, sub.axis); };
  for (SubAxes &dim : layout.dims)
    std::erase_if(dim, isFixed);
  std::erase_if(layout.partial, isFixed);
  layout.part = part;
  return layout;
}

std::vector<int64_t> weft::localShape(const Layout &layout,
                                      std::span<const int64_t> shape) {
  std::vector<int64_t> local(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    local[d] = shardSize(shape[d], shardCount(layout.dims[d]));
  return local;
}

Box weft::own(const Mesh &mesh, const Layout &layout,
              std::span<const int64_t> shape, int64_t position) {
  Box box(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    box[d] = shardInterval(shape[d], shardCount(layout.dims[d]),
                           coordinate(mesh, position, layout.dims[d]));
  return box;
}

Box weft::intersect(std::span<const Interval> a, std::span<const Interval> b) {
  Box box(a.size());
  for (size_t d = 0; d < a.size(); ++d)
    box[d] = intersect(a[d], b[d]);
  return box;
}

bool weft::isEven(const Layout &layout, std::span<const int64_t> shape) {
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] % shardCount(layout.dims[d]) != 0)
      return false;
  return true;
}

int64_t weft::receiveLowerBound(const Mesh &mesh, const Layout &from,
                                const Layout &to,
                                std::span<const int64_t> shape) {
  int64_t most = 0;
  for (int64_t position = 0, e = mesh.size(); position < e; ++position) {
    if (!holds(mesh, to, position))
      continue;
    Box wanted = own(mesh, to, shape, position);
    Box held = own(mesh, from, shape, position);
    int64_t known =
        holds(mesh, from, position) ? volume(intersect(wanted, held)) : 0;
    most = std::max(most, volume(wanted) - known);
  }
  return most;
}
