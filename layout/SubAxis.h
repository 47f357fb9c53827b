//===- SubAxis.h - axes of a mesh, and parts of them ------------*- C++ -*-===//
//
// Devices are in a grid of named axes, row-major, the last axis fastest. On
// "data"=2, "model"=4 the device at position d has the coordinates (d / 4,
// d % 4). A coordinate along an axis has digits: of the axis of 4, the sub-axis
// "model":(1)2 is d % 4 / 2 and "model":(2)2 is d % 4 % 2.
//
// A list of sub-axes, major to minor, is one number of mixed radix:
// ["model":(2)2, "data"] is 2 * (d % 2) + d / 4.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_SUBAXIS_H
#define WEFT_LAYOUT_SUBAXIS_H

#include <compare>
#include <cstdint>
#include <span>
#include <string>

namespace weft {

/// An axis of a mesh. Its links have `latency` seconds a message, `bandwidth`
/// bytes a second a device.
struct MeshAxis {
  std::string name;
  int64_t size = 1;
  double latency = 1e-6;
  double bandwidth = 1e10;
  bool operator==(const MeshAxis &) const = default;
};

/// A digit of an axis coordinate: of `size` values, after skipping the factor
/// `skip` (the product of the more major digits). The whole axis x of 8 is
/// {x, 1, 8}; "x":(2)4 is {x, 2, 4}: (coordinate / (8/2/4)) % 4.
struct SubAxis {
  uint32_t axis = 0;
  int64_t skip = 1;
  int64_t size = 1;
  bool operator==(const SubAxis &) const = default;
  auto operator<=>(const SubAxis &) const = default;
};

/// The distance of positions whose coordinates on the axis differ by 1: the
/// product of the sizes of later axes.
int64_t strideOf(std::span<const MeshAxis> mesh, uint32_t axis);
/// The number of consecutive coordinates of the axis with one value of the
/// digit.
int64_t minorOf(std::span<const MeshAxis> mesh, const SubAxis &digit);
/// The distance of positions whose values of the digit differ by 1.
int64_t strideOf(std::span<const MeshAxis> mesh, const SubAxis &digit);
/// The value of a digit at a position, in [0, digit.size).
int64_t coordinate(std::span<const MeshAxis> mesh, int64_t position,
                   const SubAxis &digit);
/// The mixed-radix number of the digits, major to minor.
int64_t coordinate(std::span<const MeshAxis> mesh, int64_t position,
                   std::span<const SubAxis> digits);
/// The product of the digits' sizes.
int64_t shardCount(std::span<const SubAxis> digits);
/// Whether two digits use a common part of one axis. Two digits of an axis, of
/// more than one value each, are disjoint only if one ends where the other
/// starts or before: the 2 of 6 = 2*3 and the 2 of 6 = 3*2 overlap.
bool overlaps(const SubAxis &a, const SubAxis &b);
/// The reason why these digits cannot be used together on the mesh, or empty:
/// an axis that it lacks, a size that does not divide the axis, an axis used
/// twice.
std::string invalidReason(std::span<const MeshAxis> mesh,
                          std::span<const SubAxis> digits);

} // namespace weft

#endif // WEFT_LAYOUT_SUBAXIS_H
