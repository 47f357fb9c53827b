//===- Layout.h - which elements a device holds -----------------*- C++ -*-===//
//
// The runtime's reading of a plan's layouts; the meaning is that of
// dialects/weft/Layout.h. 7 elements over "data"=2: device 0 holds [0,4),
// device 1 [4,7); every local buffer has room for 4.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_LAYOUT_H
#define WEFT_RUNTIME_PROGRAM_LAYOUT_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::runtime {

/// Devices in a grid, row-major, the last axis fastest. `devices[position]` is
/// an id, never empty here.
struct Mesh {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  std::vector<int64_t> devices;
  int64_t size() const { return static_cast<int64_t>(devices.size()); }
  int64_t coordinate(int64_t position, size_t axis) const;
};

/// The digit (coordinate / (axis size / skip / size)) % size of an axis.
struct SubAxis {
  uint32_t axis;
  int64_t skip, size;
};
using SubAxes = std::vector<SubAxis>;

struct Layout {
  std::vector<SubAxes> dims;
  bool partial = false;
};

struct Interval {
  int64_t begin, end;
  int64_t size() const { return end > begin ? end - begin : 0; }
  bool operator==(const Interval &) const = default;
};
using Box = std::vector<Interval>;

/// The mixed-radix number of the digits of a position, major to minor.
int64_t coordinate(const Mesh &mesh, int64_t position,
                   std::span<const SubAxis> axes);
int64_t shardCount(std::span<const SubAxis> axes);
/// Devices that differ in some digits only.
struct DeviceGroups {
  std::vector<std::vector<int64_t>> groups; ///< positions by member
  std::vector<int64_t> groupOf, memberOf;   ///< by position
};
/// The groups over the digits, by their first members. Requires digits without
/// an invalidReason.
DeviceGroups groupsOver(const Mesh &mesh, std::span<const SubAxis> axes);
/// What the device at `position` holds of a global array; empty shards of n
/// elements are [n, n).
Box own(const Mesh &mesh, const Layout &layout, std::span<const int64_t> shape,
        int64_t position);
/// ceil(n / p) in each dimension.
std::vector<int64_t> localShape(const Layout &layout,
                                std::span<const int64_t> shape);
Box intersect(const Box &a, const Box &b);
int64_t volume(const Box &box);
/// Why these digits cannot be used together on the mesh, or empty.
std::string invalidReason(const Mesh &mesh, std::span<const SubAxis> axes);
std::string invalidReason(const Mesh &mesh, const Layout &layout, size_t rank);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_LAYOUT_H
