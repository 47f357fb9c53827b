//===- MeshPart.h - the devices with given coordinates ----------*- C++ -*-===//
//
// A value, or an op, may be on a part of the mesh only. On "branch"=2, "data"=4
// the part {"branch" = 1} is the devices 4 to 7. A layout of such a value names
// the other axes:
//
//   [{"data"}, {}], at = {"branch" = 1}     of 8x3
//
//   device 4 holds rows 0, 1; 5 holds rows 2, 3; ...; 0 to 3 hold nothing
//
// The part without coordinates, {}, is the whole mesh.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_MESHPART_H
#define WEFT_LAYOUT_MESHPART_H

#include "weft/layout/SubAxis.h"

#include <vector>

namespace weft {

/// A coordinate along a whole axis.
struct AxisCoordinate {
  uint32_t axis = 0;
  int64_t coordinate = 0;
  bool operator==(const AxisCoordinate &) const = default;
  auto operator<=>(const AxisCoordinate &) const = default;
};

/// At most one coordinate of each axis, ordered by axis.
using MeshPart = std::vector<AxisCoordinate>;

/// Whether the device at a position is in the part.
bool isIn(std::span<const MeshAxis> mesh, const MeshPart &part,
          int64_t position);
/// The number of devices of the part.
int64_t sizeOf(std::span<const MeshAxis> mesh, const MeshPart &part);
/// Whether every device of `inner` is in `outer`.
bool includes(const MeshPart &outer, const MeshPart &inner);
/// Whether some device is in both parts.
bool intersects(const MeshPart &a, const MeshPart &b);
/// Whether the part fixes the coordinate along the axis.
bool fixes(const MeshPart &part, uint32_t axis);
/// The reason why the part does not fit the mesh, or empty: "axis \"branch\" has
/// 2 coordinates, 0 to 1; the part has coordinate 2".
std::string invalidReason(std::span<const MeshAxis> mesh, const MeshPart &part);
/// The part's text in IR: {"branch" = 1}.
std::string toString(std::span<const MeshAxis> mesh, const MeshPart &part);
/// The part's text for people: "branch"=1, or "the whole mesh".
std::string describe(std::span<const MeshAxis> mesh, const MeshPart &part);

} // namespace weft

#endif // WEFT_LAYOUT_MESHPART_H
