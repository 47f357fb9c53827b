//===- SubAxis.cpp - axes of a mesh, and parts of them --------------------===//

#include "weft/layout/SubAxis.h"

#include <cstddef>

namespace weft {

int64_t strideOf(std::span<const MeshAxis> mesh, uint32_t axis) {
  int64_t stride = 1;
  for (const MeshAxis &minor : mesh.subspan(axis + 1))
    stride *= minor.size;
  return stride;
}

int64_t minorOf(std::span<const MeshAxis> mesh, const SubAxis &digit) {
  return mesh[digit.axis].size / digit.skip / digit.size;
}

int64_t strideOf(std::span<const MeshAxis> mesh, const SubAxis &digit) {
  return strideOf(mesh, digit.axis) * minorOf(mesh, digit);
}

int64_t coordinate(std::span<const MeshAxis> mesh, int64_t position,
                   const SubAxis &digit) {
  int64_t along = position / strideOf(mesh, digit.axis) % mesh[digit.axis].size;
  return along / minorOf(mesh, digit) % digit.size;
}

int64_t coordinate(std::span<const MeshAxis> mesh, int64_t position,
                   std::span<const SubAxis> digits) {
  int64_t number = 0;
  for (const SubAxis &digit : digits)
    number = number * digit.size + coordinate(mesh, position, digit);
  return number;
}

int64_t shardCount(std::span<const SubAxis> digits) {
  int64_t product = 1;
  for (const SubAxis &digit : digits)
    product *= digit.size;
  return product;
}

bool overlaps(const SubAxis &a, const SubAxis &b) {
  if (a.axis != b.axis || a.size == 1 || b.size == 1)
    return false;
  return b.skip % (a.skip * a.size) != 0 && a.skip % (b.skip * b.size) != 0;
}

static std::string invalidReason(std::span<const MeshAxis> mesh,
                                 const SubAxis &digit) {
  if (digit.axis >= mesh.size())
    return "axis number " + std::to_string(digit.axis) +
           " does not exist, the mesh has " + std::to_string(mesh.size());
  const MeshAxis &axis = mesh[digit.axis];
  // Two divisions, as the product of two unchecked numbers may overflow.
  if (digit.skip < 1 || digit.size < 1 || axis.size % digit.skip != 0 ||
      axis.size / digit.skip % digit.size != 0)
    return "sub-axis \"" + axis.name + "\":(" + std::to_string(digit.skip) +
           ")" + std::to_string(digit.size) + " does not divide the axis of " +
           std::to_string(axis.size);
  return {};
}

std::string invalidReason(std::span<const MeshAxis> mesh,
                          std::span<const SubAxis> digits) {
  for (size_t i = 0; i < digits.size(); ++i) {
    if (std::string reason = invalidReason(mesh, digits[i]); !reason.empty())
      return reason;
    for (const SubAxis &other : digits.first(i))
      if (overlaps(digits[i], other))
        return "axis \"" + mesh[digits[i].axis].name + "\" is used twice";
  }
  return {};
}

} // namespace weft
