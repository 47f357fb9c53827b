//===- DeviceGroups.cpp - devices that communicate with each other --------===//

#include "weft/layout/DeviceGroups.h"

#include <map>

namespace weft {

DeviceGroups groupsOver(std::span<const MeshAxis> mesh,
                        std::span<const SubAxis> digits) {
  int64_t devices = 1;
  for (const MeshAxis &axis : mesh)
    devices *= axis.size;
  DeviceGroups all;
  all.groupOf.resize(static_cast<size_t>(devices));
  all.memberOf.resize(static_cast<size_t>(devices));
  // The number of each group by its first member: the position with all digits
  // 0.
  std::map<int64_t, int64_t> numbers;
  for (int64_t p = 0; p < devices; ++p) {
    int64_t first = p, member = coordinate(mesh, p, digits);
    for (const SubAxis &digit : digits)
      first -= coordinate(mesh, p, digit) * strideOf(mesh, digit);
    auto [at, isNew] =
        numbers.try_emplace(first, static_cast<int64_t>(numbers.size()));
    if (isNew)
      all.groups.emplace_back(shardCount(digits));
    all.groupOf[p] = at->second;
    all.memberOf[p] = member;
    all.groups[at->second][member] = p;
  }
  return all;
}

} // namespace weft
