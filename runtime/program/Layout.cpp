#include "weft/runtime/program/Layout.h"

#include <algorithm>
#include <map>

namespace weft::runtime {

int64_t Mesh::coordinate(int64_t position, size_t axis) const {
  int64_t stride = 1;
  for (size_t a = axis + 1; a < sizes.size(); ++a)
    stride *= sizes[a];
  return position / stride % sizes[axis];
}

int64_t coordinate(const Mesh &mesh, int64_t position,
                   std::span<const SubAxis> axes) {
  int64_t number = 0;
  for (const SubAxis &sub : axes) {
    int64_t minor = mesh.sizes[sub.axis] / sub.skip / sub.size;
    int64_t digit = mesh.coordinate(position, sub.axis) / minor % sub.size;
    number = number * sub.size + digit;
  }
  return number;
}

int64_t shardCount(std::span<const SubAxis> axes) {
  int64_t count = 1;
  for (const SubAxis &sub : axes)
    count *= sub.size;
  return count;
}

static int64_t shardSize(int64_t n, int64_t p) { return n / p + (n % p != 0); }

Box own(const Mesh &mesh, const Layout &layout, std::span<const int64_t> shape,
        int64_t position) {
  Box box(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t c = shardSize(shape[d], shardCount(layout.dims[d]));
    int64_t i = coordinate(mesh, position, layout.dims[d]);
    box[d] = {std::min(i * c, shape[d]), std::min((i + 1) * c, shape[d])};
  }
  return box;
}

std::vector<int64_t> localShape(const Layout &layout,
                                std::span<const int64_t> shape) {
  std::vector<int64_t> local(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    local[d] = shardSize(shape[d], shardCount(layout.dims[d]));
  return local;
}

DeviceGroups groupsOver(const Mesh &mesh, std::span<const SubAxis> axes) {
  DeviceGroups out;
  out.groupOf.resize(size_t(mesh.size()));
  out.memberOf.resize(size_t(mesh.size()));
  // A group is known by its first member: the position with all digits 0.
  std::map<int64_t, int64_t> numbers;
  for (int64_t p = 0; p < mesh.size(); ++p) {
    int64_t first = p;
    for (const SubAxis &sub : axes) {
      int64_t stride = 1;
      for (size_t a = sub.axis + 1; a < mesh.sizes.size(); ++a)
        stride *= mesh.sizes[a];
      int64_t minor = mesh.sizes[sub.axis] / sub.skip / sub.size;
      first -= coordinate(mesh, p, {&sub, 1}) * minor * stride;
    }
    auto [it, isNew] =
        numbers.try_emplace(first, static_cast<int64_t>(numbers.size()));
    if (isNew)
      out.groups.emplace_back(shardCount(axes));
    out.groupOf[p] = it->second;
    out.memberOf[p] = coordinate(mesh, p, axes);
    out.groups[it->second][out.memberOf[p]] = p;
  }
  return out;
}

Box intersect(const Box &a, const Box &b) {
  Box out(a.size());
  for (size_t d = 0; d < a.size(); ++d)
    out[d] = {std::max(a[d].begin, b[d].begin), std::min(a[d].end, b[d].end)};
  return out;
}

int64_t volume(const Box &box) {
  int64_t product = 1;
  for (const Interval &i : box)
    product *= i.size();
  return product;
}

/// As dialects/weft/Layout.cpp: two digits are independent only where one ends
/// before the other begins, and by a divisor. Of an axis of 6, "x":(1)2 and
/// "x":(3)2 do not make four groups of equal size.
static bool overlaps(const SubAxis &a, const SubAxis &b) {
  return a.axis == b.axis && a.size > 1 && b.size > 1 &&
         b.skip % (a.skip * a.size) != 0 && a.skip % (b.skip * b.size) != 0;
}

std::string invalidReason(const Mesh &mesh, std::span<const SubAxis> axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const SubAxis &a = axes[i];
    if (a.axis >= mesh.sizes.size())
      return "axis " + std::to_string(a.axis) + " is not among the mesh's " +
             std::to_string(mesh.sizes.size());
    int64_t size = mesh.sizes[a.axis];
    // One after the other: the product of two hostile numbers overflows.
    if (a.skip < 1 || a.size < 1 || size % a.skip != 0 ||
        size / a.skip % a.size != 0)
      return "sub-axis \"" + mesh.names[a.axis] + "\":(" +
             std::to_string(a.skip) + ")" + std::to_string(a.size) +
             " is no digit of an axis of " + std::to_string(size);
    for (size_t j = 0; j < i; ++j)
      if (overlaps(a, axes[j]))
        return "axis \"" + mesh.names[a.axis] + "\" is used twice";
  }
  return {};
}

std::string invalidReason(const Mesh &mesh, const Layout &layout, size_t rank) {
  if (layout.dims.size() != rank)
    return "layout has " + std::to_string(layout.dims.size()) +
           " dimensions, the array " + std::to_string(rank);
  SubAxes all;
  for (const SubAxes &axes : layout.dims)
    all.insert(all.end(), axes.begin(), axes.end());
  return invalidReason(mesh, all);
}

} // namespace weft::runtime
