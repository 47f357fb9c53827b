//===- DeviceGroups.h - axes and the groups of devices they make ----------===//
//
// Devices that differ along some axes only are a group, ordered by these axes'
// digits. On x=2, y=4:
//
//   groupsOver(mesh, ["x"])       {0, 4}, {1, 5}, {2, 6}, {3, 7}
//   groupsOver(mesh, ["y":(2)2])  {0, 1}, {2, 3}, {4, 5}, {6, 7}
//
// and `axesOfGroups` is its inverse. {0, 2}, {1, 3} on an axis of 8 alone is no
// digit, and has none.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_DEVICEGROUPS_H
#define WEFT_DIALECTS_WEFT_DEVICEGROUPS_H

#include "weft/dialects/weft/Layout.h"

#include <vector>

namespace weft {

using DeviceGroup = llvm::SmallVector<int64_t>;

/// Positions in the mesh, the groups in the order of their first members.
std::vector<DeviceGroup> groupsOver(const Mesh &mesh,
                                    llvm::ArrayRef<SubAxis> axes);
/// The digits that number the members, major to minor; nothing where no digits
/// do, or groups are of different sizes.
std::optional<SubAxes> axesOfGroups(const Mesh &mesh,
                                    std::vector<DeviceGroup> groups);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_DEVICEGROUPS_H
