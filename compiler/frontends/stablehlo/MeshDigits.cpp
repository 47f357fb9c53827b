//===- MeshDigits.cpp - an axis of one mesh as sub-axes of another --------===//

#include "weft/compiler/frontends/stablehlo/MeshDigits.h"

#include "weft/dialects/weft/DeviceGroups.h"

using namespace llvm;
using namespace weft;
using namespace weft::stablehlo;

static int64_t deviceAt(const Mesh &mesh, int64_t position) {
  return mesh.devices.empty() ? position : mesh.devices[position];
}

/// Of each device its position; empty where they are not 0 to n - 1.
static SmallVector<int64_t> positionsIn(const Mesh &mesh) {
  SmallVector<int64_t> positions(mesh.size(), -1);
  for (int64_t i = 0; i < mesh.size(); ++i) {
    int64_t device = deviceAt(mesh, i);
    if (device < 0 || device >= mesh.size() || positions[device] >= 0)
      return {};
    positions[device] = i;
  }
  return positions;
}

std::optional<SubAxes>
stablehlo::digitsOf(const Mesh &from, const SubAxis &part, const Mesh &to) {
  SmallVector<int64_t> positions = positionsIn(to);
  if (positions.empty() || from.size() != to.size())
    return std::nullopt;
  std::vector<DeviceGroup> groups = groupsOver(from, part);
  for (DeviceGroup &group : groups)
    for (int64_t &position : group) {
      int64_t device = deviceAt(from, position);
      if (device < 0 || device >= to.size())
        return std::nullopt;
      position = positions[device];
    }
  return axesOfGroups(to, std::move(groups));
}

/// Where each axis is digits, a device's coordinates are these digits.
bool stablehlo::isSameDevices(const Mesh &from, const Mesh &to) {
  for (unsigned axis = 0; axis < from.axes.size(); ++axis)
    if (!digitsOf(from, wholeAxis(from, axis), to))
      return false;
  return from.size() == to.size();
}
