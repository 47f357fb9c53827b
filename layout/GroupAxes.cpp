//===- GroupAxes.cpp - the axes along which groups of devices differ ------===//

#include "weft/layout/GroupAxes.h"

#include <algorithm>
#include <optional>

using namespace weft;

namespace {
/// A digit: `count` values with a distance of `stride`.
struct Digit {
  int64_t stride, count;
};
} // namespace

/// The numbers as sums of digits, minor digit first: {0, 1, 4, 5} counts 2 with
/// stride 1 and 2 with stride 4. The caller checks that the numbers are such
/// sums; nothing if their count shows that they are not ({0, 1, 3}).
static std::optional<std::vector<Digit>> digitsOf(DeviceGroup numbers) {
  std::vector<Digit> digits;
  while (numbers.size() > 1) {
    int64_t size = numbers.size(), stride = numbers[1] - numbers[0], run = 2;
    while (run < size && numbers[run] - numbers[0] == run * stride)
      ++run;
    while (size % run != 0)
      --run;
    if (run == 1)
      return std::nullopt;
    digits.push_back({stride, run});
    DeviceGroup next;
    for (int64_t i = 0; i < size; i += run)
      next.push_back(numbers[i]);
    numbers = next;
  }
  return digits;
}

/// Adds the parts of axes that a digit of positions covers, minor first.
static bool addAxes(const Mesh &mesh, const Digit &digit, SubAxes &axes) {
  int64_t begin = digit.stride, end = digit.stride * digit.count;
  for (unsigned axis = mesh.axes.size(); begin > 0 && axis-- > 0;) {
    int64_t low = strideOf(mesh.axes, axis), high = low * mesh.axes[axis].size;
    int64_t from = std::max(begin, low), to = std::min(end, high);
    if (from >= to)
      continue;
    if (from % low || to % from || high % to)
      return false;
    axes.push_back({axis, high / to, to / from});
  }
  return begin > 0;
}

std::optional<SubAxes> weft::axesOfGroups(const Mesh &mesh,
                                          std::vector<DeviceGroup> groups) {
  if (groups.empty())
    return std::nullopt;
  SubAxes minorFirst;
  auto digits = digitsOf(groups.front());
  if (!digits)
    return std::nullopt;
  for (const Digit &digit : *digits)
    if (!addAxes(mesh, digit, minorFirst))
      return std::nullopt;
  SubAxes axes =
      normalise(mesh, SubAxes(minorFirst.rbegin(), minorFirst.rend()));
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = i + 1; j < axes.size(); ++j)
      if (overlaps(axes[i], axes[j]))
        return std::nullopt;
  std::ranges::sort(groups);
  if (groupsOver(mesh.axes, axes).groups != groups)
    return std::nullopt;
  return axes;
}
