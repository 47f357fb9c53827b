//===- Layout.cpp - where the elements of a tensor live -------------------===//

#include "weft/dialects/layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

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

std::optional<unsigned> Mesh::find(llvm::StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(axes))
    if (axis.name == name)
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
  llvm::SmallVector<int64_t, 8> sorted(mesh.devices);
  llvm::sort(sorted);
  if (sorted.front() < 0)
    return "device " + std::to_string(sorted.front()) + " is negative";
  auto *twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return "device " + std::to_string(*twice) + " is named twice";
  return {};
}

std::string Mesh::invalidReason() const {
  // Planning has tables with a row for each device.
  constexpr int64_t mostDevices = 1 << 20;
  int64_t product = 1;
  for (auto [index, axis] : llvm::enumerate(axes)) {
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
                         llvm::ArrayRef<SubAxis> axes) {
  return coordinate(std::span(mesh.axes), position, std::span(axes));
}

SubAxes weft::normalise(const Mesh &mesh, llvm::ArrayRef<SubAxis> axes) {
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

Layout Layout::replicated(int64_t rank) {
  Layout layout;
  layout.dims.resize(rank);
  return layout;
}

bool Layout::isReplicated() const {
  return partial.empty() &&
         llvm::all_of(dims, [](const SubAxes &axes) { return axes.empty(); });
}

Layout weft::normalise(const Mesh &mesh, Layout layout) {
  for (SubAxes &axes : layout.dims)
    axes = normalise(mesh, axes);
  llvm::sort(layout.partial);
  layout.partial = normalise(mesh, layout.partial);
  if (layout.partial.empty())
    layout.reduce = ReduceKind::Sum;
  return layout;
}

Layout weft::compose(const Layout &outer, const Layout &inner) {
  Layout result = outer;
  for (auto [dim, more] : llvm::zip_equal(result.dims, inner.dims))
    dim.append(more);
  result.partial.append(inner.partial);
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
    all.append(axes);
  all.append(layout.partial);
  return invalidReason(std::span(mesh.axes), std::span(all));
}

llvm::SmallVector<int64_t, 4> weft::localShape(const Layout &layout,
                                               llvm::ArrayRef<int64_t> shape) {
  return localShapeOf<llvm::SmallVector<int64_t, 4>>(layout.dims, shape);
}

Box weft::own(const Mesh &mesh, const Layout &layout,
              llvm::ArrayRef<int64_t> shape, int64_t position) {
  return ownBox<Box>(mesh.axes, layout.dims, shape, position);
}

Box weft::intersect(llvm::ArrayRef<Interval> a, llvm::ArrayRef<Interval> b) {
  return intersectBoxes<Box>(a, b);
}

bool weft::isEven(const Layout &layout, llvm::ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip_equal(layout.dims, shape), [](auto pair) {
    auto [axes, n] = pair;
    return n % shardCount(axes) == 0;
  });
}

int64_t weft::receiveLowerBound(const Mesh &mesh, const Layout &from,
                                const Layout &to,
                                llvm::ArrayRef<int64_t> shape) {
  int64_t most = 0;
  for (int64_t position = 0, e = mesh.size(); position < e; ++position) {
    Box wanted = own(mesh, to, shape, position);
    Box held = own(mesh, from, shape, position);
    most = std::max(most, volume(wanted) - volume(intersect(wanted, held)));
  }
  return most;
}
