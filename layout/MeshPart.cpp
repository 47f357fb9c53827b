//===- MeshPart.cpp - the devices with given coordinates ------------------===//

#include "weft/layout/MeshPart.h"

#include <algorithm>

using namespace weft;

bool weft::isIn(std::span<const MeshAxis> mesh, const MeshPart &part,
                int64_t position) {
  return std::ranges::all_of(part, [&](const AxisCoordinate &at) {
    return position / strideOf(mesh, at.axis) % mesh[at.axis].size ==
           at.coordinate;
  });
}

int64_t weft::sizeOf(std::span<const MeshAxis> mesh, const MeshPart &part) {
  int64_t devices = 1;
  for (uint32_t axis = 0; axis < mesh.size(); ++axis)
    if (!fixes(part, axis))
      devices *= mesh[axis].size;
  return devices;
}

bool weft::includes(const MeshPart &outer, const MeshPart &inner) {
  return std::ranges::includes(inner, outer);
}

bool weft::intersects(const MeshPart &a, const MeshPart &b) {
  return std::ranges::none_of(a, [&](const AxisCoordinate &one) {
    return std::ranges::any_of(b, [&](const AxisCoordinate &other) {
      return one.axis == other.axis && one.coordinate != other.coordinate;
    });
  });
}

bool weft::fixes(const MeshPart &part, uint32_t axis) {
  return std::ranges::any_of(
      part, [&](const AxisCoordinate &at) { return at.axis == axis; });
}

std::string weft::invalidReason(std::span<const MeshAxis> mesh,
                                const MeshPart &part) {
  for (size_t i = 0; i < part.size(); ++i) {
    auto [axis, coordinate] = part[i];
    if (axis >= mesh.size())
      return "part has a coordinate along axis " + std::to_string(axis) +
             ", the mesh has " + std::to_string(mesh.size()) + " axes";
    const auto &[name, size, latency, bandwidth] = mesh[axis];
    if (coordinate < 0 || coordinate >= size)
      return "axis \"" + name + "\" has " + std::to_string(size) +
             " coordinates, 0 to " + std::to_string(size - 1) +
             "; the part has coordinate " + std::to_string(coordinate);
    for (size_t j = 0; j < i; ++j)
      if (part[j].axis == axis)
        return "part has the coordinates " +
               std::to_string(part[j].coordinate) + " and " +
               std::to_string(coordinate) + " along axis \"" + name + "\"";
  }
  return {};
}
