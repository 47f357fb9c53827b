//===- MeshDigits.cpp - an axis of one mesh as sub-axes of another --------===//

#include "weft/compiler/frontends/stablehlo/convert/MeshDigits.h"

#include "weft/layout/GroupAxes.h"

using namespace llvm;
using namespace weft;
using namespace weft::stablehlo;

/// The position of each device; empty if the devices are not 0 to n - 1.
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
stablehlo::digitsOf(const Mesh &from, const SubAxis &axis, const Mesh &to) {
  SmallVector<int64_t> positions = positionsIn(to);
  if (positions.empty() || from.size() != to.size())
    return std::nullopt;
  std::vector<DeviceGroup> groups = groupsOver(from.axes, {&axis, 1}).groups;
  for (DeviceGroup &group : groups)
    for (int64_t &position : group) {
      int64_t device = deviceAt(from, position);
      if (device < 0 || device >= to.size())
        return std::nullopt;
      position = positions[device];
    }
  return axesOfGroups(to, std::move(groups));
}

bool stablehlo::isSameDevices(const Mesh &from, const Mesh &to) {
  for (unsigned axis = 0; axis < from.axes.size(); ++axis)
    if (!digitsOf(from, fullAxis(from, axis), to))
      return false;
  return from.size() == to.size();
}

/// The axes of a mesh cut into prime factors, major to minor.
static SmallVector<SubAxis> primeDigits(const Mesh &mesh) {
  SmallVector<SubAxis> digits;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    int64_t rest = mesh.axes[axis].size, skip = 1;
    for (int64_t prime = 2; rest > 1;) {
      if (prime * prime > rest)
        prime = rest;
      if (rest % prime != 0) {
        ++prime;
        continue;
      }
      digits.push_back({axis, skip, prime});
      skip *= prime;
      rest /= prime;
    }
  }
  return digits;
}

/// For each digit of `from`, the first unused digit of `to` of the same size.
static SmallVector<unsigned> matchDigits(ArrayRef<SubAxis> from,
                                         ArrayRef<SubAxis> to) {
  SmallVector<unsigned> places;
  SmallVector<bool> taken(to.size(), false);
  for (const SubAxis &digit : from)
    for (unsigned place = 0; place < to.size(); ++place)
      if (!taken[place] && to[place].size == digit.size) {
        taken[place] = true;
        places.push_back(place);
        break;
      }
  return places;
}

std::optional<Mesh> stablehlo::alignedTo(const Mesh &from, const Mesh &to) {
  if (isSameDevices(from, to))
    return from;
  if (from.size() != to.size() || positionsIn(from).empty() ||
      positionsIn(to).empty())
    return std::nullopt;
  // The stride of each digit in a linear position on `to`.
  SmallVector<SubAxis> digits = primeDigits(from), others = primeDigits(to);
  SmallVector<unsigned> places = matchDigits(digits, others);
  SmallVector<int64_t> strides(others.size(), 1);
  for (size_t i = others.size(); i-- > 1;)
    strides[i - 1] = strides[i] * others[i].size;
  Mesh aligned = from;
  aligned.devices.resize(from.size());
  for (int64_t position = 0; position < from.size(); ++position) {
    int64_t rest = position, there = 0;
    for (size_t i = digits.size(); i-- > 0; rest /= digits[i].size)
      there += rest % digits[i].size * strides[places[i]];
    aligned.devices[position] = deviceAt(to, there);
  }
  return aligned;
}

SmallVector<int64_t> stablehlo::orderOn(const Mesh &from, const Mesh &aligned,
                                        const Mesh &to) {
  if (aligned == from)
    return {};
  SmallVector<int64_t> order(to.size()), positions = positionsIn(aligned);
  for (int64_t place = 0; place < to.size(); ++place)
    order[place] = deviceAt(from, positions[deviceAt(to, place)]);
  return order;
}
