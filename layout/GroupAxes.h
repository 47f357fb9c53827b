//===- GroupAxes.h - the axes along which groups of devices differ --------===//
//
// The inverse of `groupsOver` (layout/DeviceGroups.h). On x=2, y=4:
//
//   {0, 4}, {1, 5}, {2, 6}, {3, 7}   ["x"]
//   {0, 1}, {2, 3}, {4, 5}, {6, 7}   ["y":(2)2]
//
// No digit of an axis of 8 has the groups {0, 2}, {1, 3}.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_GROUPAXES_H
#define WEFT_LAYOUT_GROUPAXES_H

#include "weft/layout/DeviceGroups.h"
#include "weft/layout/Layout.h"

namespace weft {

/// The digits that number the members, major to minor; nothing if there are
/// none or groups have different sizes.
std::optional<SubAxes> axesOfGroups(const Mesh &mesh,
                                    std::vector<DeviceGroup> groups);

} // namespace weft

#endif // WEFT_LAYOUT_GROUPAXES_H
