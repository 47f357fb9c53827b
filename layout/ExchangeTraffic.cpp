//===- ExchangeTraffic.cpp - bytes that the busiest device sends ----------===//

#include "weft/layout/ExchangeTraffic.h"

#include "weft/layout/Sizes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <unordered_map>
#include <vector>

using namespace weft;

namespace {

/// The number of devices by the number of elements that they want of a shard,
/// most elements first.
using Wants = std::map<int64_t, int64_t, std::greater<>>;

/// One dimension of the tensor, split by both layouts.
struct Dimension {
  int64_t size, fromShards, toShards;

  Interval held(int64_t shard) const {
    return shardInterval(size, fromShards, shard);
  }
  /// The number of elements that a shard and shard `needed` of the other
  /// layout have in common.
  int64_t common(int64_t shard, int64_t needed) const {
    Interval a = held(shard), b = shardInterval(size, toShards, needed);
    return std::max<int64_t>(0, std::min(a.end, b.end) -
                                    std::max(a.begin, b.begin));
  }
  /// For a nonempty shard, the number of needed shards by the elements they
  /// have in common with it. Needed shards between the first and the last are
  /// in it completely.
  Wants wantsOf(int64_t shard) const {
    Interval elements = held(shard);
    int64_t each = shardSize(size, toShards);
    int64_t first = elements.begin / each, last = (elements.end - 1) / each;
    Wants wants;
    ++wants[common(shard, first)];
    if (last > first)
      ++wants[common(shard, last)];
    if (last > first + 1)
      wants[each] += last - first - 1;
    return wants;
  }
};

/// The digits that an axis adds to the numbers of a shard and a needed shard.
struct AxisDigits {
  std::vector<std::vector<int64_t>> shard, needed; ///< indexed by dimension
  /// The coordinates of devices that have a shard and need one.
  std::vector<int64_t> coordinates;
};

/// The elements of each shard that its holders have already.
class OwnElements {
public:
  OwnElements(const Mesh &mesh, const Layout &from, const Layout &to,
              std::span<const Dimension> dims);
  std::unordered_map<int64_t, Wants> byShard;

private:
  void visit(size_t axis, std::span<const int64_t> shard,
             std::span<const int64_t> needed);
  void count(std::span<const int64_t> shard, std::span<const int64_t> needed);

  std::span<const Dimension> dims;
  std::vector<AxisDigits> axes; ///< axes that a layout uses
  int64_t alike = 1; ///< number of devices with equal shards and equal needs
};

} // namespace

/// The digit of each coordinate of an axis in the number that the sub-axes
/// form.
static std::vector<int64_t> digitsOf(const Mesh &mesh, unsigned axis,
                                     const SubAxes &dim) {
  std::vector<int64_t> digits(mesh.axes[axis].size);
  int64_t weight = 1;
  for (const SubAxis &sub : std::views::reverse(dim)) {
    int64_t minor = minorOf(mesh.axes, sub), x = 0;
    for (int64_t &digit : digits)
      if (sub.axis == axis)
        digit += x++ / minor % sub.size * weight;
    weight *= sub.size;
  }
  return digits;
}

/// The coordinates along an axis of the devices that are in both parts.
static std::vector<int64_t> coordinatesIn(const Mesh &mesh, unsigned axis,
                                          const MeshPart &from,
                                          const MeshPart &to) {
  std::vector<int64_t> result;
  for (int64_t x = 0; x < mesh.axes[axis].size; ++x) {
    auto isOutside = [&](const AxisCoordinate &at) {
      return at.axis == axis && at.coordinate != x;
    };
    if (std::ranges::none_of(from, isOutside) &&
        std::ranges::none_of(to, isOutside))
      result.push_back(x);
  }
  return result;
}

OwnElements::OwnElements(const Mesh &mesh, const Layout &from, const Layout &to,
                         std::span<const Dimension> dims)
    : dims(dims) {
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    AxisDigits digits;
    for (const SubAxes &dim : from.dims)
      digits.shard.push_back(digitsOf(mesh, axis, dim));
    for (const SubAxes &dim : to.dims)
      digits.needed.push_back(digitsOf(mesh, axis, dim));
    auto isUnused = [](const std::vector<int64_t> &dim) {
      return std::ranges::all_of(dim, [](int64_t digit) { return digit == 0; });
    };
    digits.coordinates = coordinatesIn(mesh, axis, from.part, to.part);
    if (std::ranges::all_of(digits.shard, isUnused) &&
        std::ranges::all_of(digits.needed, isUnused))
      alike *= static_cast<int64_t>(digits.coordinates.size());
    else
      axes.push_back(std::move(digits));
  }
  std::vector<int64_t> origin(dims.size());
  if (alike > 0)
    visit(0, origin, origin);
}

void OwnElements::visit(size_t axis, std::span<const int64_t> shard,
                        std::span<const int64_t> needed) {
  if (axis == axes.size())
    return count(shard, needed);
  const AxisDigits &digits = axes[axis];
  std::vector<int64_t> nextShard(dims.size()), nextNeeded(dims.size());
  for (int64_t x : digits.coordinates) {
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      nextShard[dim] = shard[dim] + digits.shard[dim][x];
      nextNeeded[dim] = needed[dim] + digits.needed[dim][x];
    }
    visit(axis + 1, nextShard, nextNeeded);
  }
}

void OwnElements::count(std::span<const int64_t> shard,
                        std::span<const int64_t> needed) {
  int64_t elements = 1, number = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    elements *= dims[d].common(shard[d], needed[d]);
    number = number * dims[d].fromShards + shard[d];
    if (elements == 0)
      return;
  }
  byShard[number][elements] += alike;
}

/// Elements that the first of `holders` sends: requests are numbered, and it
/// answers those whose number is a multiple of `holders`.
static int64_t sentByFirst(const Wants &wants, const Wants &own,
                           int64_t holders) {
  int64_t sent = 0, place = 0;
  for (auto [elements, devices] : wants) {
    auto known = own.find(elements);
    int64_t next = place + devices - (known == own.end() ? 0 : known->second);
    int64_t times = shardSize(next, holders) - shardSize(place, holders);
    sent = saturatingAdd(sent, saturatingMultiply(times, elements));
    place = next;
  }
  return sent;
}

static Wants product(const Wants &a, const Wants &b) {
  Wants result;
  for (auto [elements, devices] : a)
    for (auto [more, times] : b)
      result[elements * more] += devices * times;
  return result;
}

namespace {
/// Visits all nonempty shards, dimension by dimension.
class ShardWalk {
public:
  ShardWalk(std::span<const Dimension> dims,
            const OwnElements &own [[clang::lifetimebound]], int64_t holders)
      : dims(dims), own(own), holders(holders) {}
  /// Visits the shards whose number starts with `number` and which `wants`
  /// devices need so far.
  void visit(size_t dim, int64_t number, const Wants &wants);
  int64_t most = 0;

private:
  std::span<const Dimension> dims;
  const OwnElements &own;
  int64_t holders;
  Wants lastWants, lastOwn;
};
} // namespace

void ShardWalk::visit(size_t dim, int64_t number, const Wants &wants) {
  if (dim == dims.size()) {
    auto known = own.byShard.find(number);
    Wants held = known == own.byShard.end() ? Wants() : known->second;
    if (wants == lastWants && held == lastOwn)
      return; // This shard equals the previous shard.
    most = std::max(most, sentByFirst(wants, held, holders));
    lastWants = wants;
    lastOwn = std::move(held);
    return;
  }
  const Dimension &here = dims[dim];
  int64_t filled = shardSize(here.size, shardSize(here.size, here.fromShards));
  for (int64_t shard = 0; shard < filled; ++shard)
    visit(dim + 1, number * here.fromShards + shard,
          product(wants, here.wantsOf(shard)));
}

int64_t weft::mostSent(const Mesh &mesh, const Layout &from, const Layout &to,
                       std::span<const int64_t> shape) {
  std::vector<Dimension> dims;
  int64_t shards = 1, needed = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    dims.push_back(
        {shape[d], shardCount(from.dims[d]), shardCount(to.dims[d])});
    shards *= dims.back().fromShards;
    needed *= dims.back().toShards;
  }
  if ((shards == 1 && includes(from.part, to.part)) ||
      std::ranges::count(shape, 0))
    return 0;
  OwnElements own(mesh, from, to, dims);
  ShardWalk walk(dims, own, sizeOf(mesh.axes, from.part) / shards);
  walk.visit(0, 0, {{1, sizeOf(mesh.axes, to.part) / needed}});
  return walk.most;
}
