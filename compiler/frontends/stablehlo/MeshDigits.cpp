//===- MeshDigits.cpp - an axis of one mesh as sub-axes of another --------===//

#include "weft/compiler/frontends/stablehlo/MeshDigits.h"

#include <numeric>

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

/// Neighbours along an axis are so many positions apart.
static int64_t strideOf(const Mesh &mesh, unsigned axis) {
  int64_t stride = 1;
  for (size_t i = axis + 1; i < mesh.axes.size(); ++i)
    stride *= mesh.axes[i].size;
  return stride;
}

/// `size` values `stride` positions apart, as digits of axes, minor to major.
static bool splitDigit(const Mesh &to, int64_t stride, int64_t size,
                       SubAxes &minorFirst) {
  for (unsigned i = to.axes.size(); i > 0 && size > 1; --i) {
    unsigned axis = i - 1;
    int64_t own = strideOf(to, axis), count = to.axes[axis].size;
    if (stride >= own * count)
      continue; // lies in a more major axis
    if (stride % own != 0 || (own * count) % stride != 0)
      return false;
    int64_t room = own * count / stride, take = std::min(size, room);
    if (room % take != 0 || size % take != 0)
      return false;
    minorFirst.push_back({axis, room / take, take});
    size /= take;
    stride = own * count;
  }
  return size == 1;
}

std::optional<SubAxes> stablehlo::digitsOf(const Mesh &from,
                                           const SubAxis &part,
                                           const Mesh &to) {
  SmallVector<int64_t> positions = positionsIn(to);
  if (positions.empty() || from.size() != to.size())
    return std::nullopt;
  int64_t step = strideOf(from, part.axis) * (from.axes[part.axis].size /
                                              part.skip / part.size);
  auto place = [&](int64_t value) {
    return positions[deviceAt(from, value * step)] -
           positions[deviceAt(from, 0)];
  };
  SubAxes minorFirst;
  for (int64_t done = 1; done < part.size;) {
    // So many values are equally far apart.
    int64_t stride = place(done), run = 1;
    while (done * run < part.size && place(done * run) == stride * run)
      ++run;
    while (part.size / done % run != 0)
      --run;
    if (stride <= 0 || run < 2 || !splitDigit(to, stride, run, minorFirst))
      return std::nullopt;
    done *= run;
  }
  return SubAxes(minorFirst.rbegin(), minorFirst.rend());
}

bool stablehlo::isSameDevices(const Mesh &from, const Mesh &to) {
  SmallVector<int64_t> positions = positionsIn(to);
  if (positions.empty() || from.size() != to.size())
    return false;
  SmallVector<SubAxes> digits;
  for (unsigned i = 0; i < from.axes.size(); ++i) {
    auto found = digitsOf(from, wholeAxis(from, i), to);
    if (!found)
      return false;
    digits.push_back(*found);
  }
  for (int64_t position = 0; position < from.size(); ++position) {
    int64_t device = deviceAt(from, position);
    if (device < 0 || device >= to.size())
      return false;
    for (unsigned i = 0; i < from.axes.size(); ++i)
      if (coordinate(to, positions[device], digits[i]) !=
          from.coordinate(position, i))
        return false;
  }
  return true;
}
