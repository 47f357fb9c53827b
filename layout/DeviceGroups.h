//===- DeviceGroups.h - devices that communicate with each other -*- C++ -*-===//
//
// Devices that differ in some digits only are a group, ordered by these digits.
// On x=2, y=4:
//
//   over ["x"]       {0, 4}, {1, 5}, {2, 6}, {3, 7}
//   over ["y":(2)2]  {0, 1}, {2, 3}, {4, 5}, {6, 7}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_DEVICEGROUPS_H
#define WEFT_LAYOUT_DEVICEGROUPS_H

#include "weft/layout/SubAxis.h"

#include <vector>

namespace weft {

/// Positions in the mesh, ordered by the digits in which they differ.
using DeviceGroup = std::vector<int64_t>;

struct DeviceGroups {
  std::vector<DeviceGroup> groups; ///< groups, ordered by their first members
  /// The number of a position's group, and its index in the group.
  std::vector<int64_t> groupOf, memberOf;
};

/// The groups over the digits. Requires digits without an invalidReason.
DeviceGroups groupsOver(std::span<const MeshAxis> mesh,
                        std::span<const SubAxis> digits);

} // namespace weft

#endif // WEFT_LAYOUT_DEVICEGROUPS_H
