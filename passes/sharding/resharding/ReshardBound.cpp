//===- ReshardBound.cpp - the least bytes that a device must receive ------===//

#include "weft/passes/sharding/resharding/ReshardSteps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace weft;
using namespace weft::reshard;

/// The most devices that are examined in the search; any subset of them gives a
/// bound.
static constexpr int64_t mostAsked = 16;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

DeviceTable::DeviceTable(const Problem &problem)
    : problem(problem), width(problem.digits.size() + problem.rank()) {
  unsigned count = problem.digits.size(), rank = problem.rank();
  llvm::SmallVector<bool> used(problem.mesh.axes.size());
  for (const SubAxis &digit : problem.digits)
    used[digit.axis] = true;
  for (const SubAxes &list : problem.frozen)
    for (const SubAxis &axis : list)
      used[axis.axis] = true;
  int64_t devices = 1;
  for (auto [axis, isUsed] : llvm::enumerate(used))
    if (isUsed) {
      axes.push_back(axis);
      strides.push_back(strideOf(problem.mesh.axes, uint32_t(axis)));
      devices *= problem.mesh.axes[axis].size;
    }
  rows.resize(devices * width);
  goals.resize(devices * rank);
  wantedVolume.assign(devices, 1);
  View target(problem, problem.target);
  auto steps = llvm::map_to_vector(problem.digits, [&](const auto &digit) {
    return strideOf(problem.mesh.axes, digit);
  });
  for (int64_t row = 0; row < devices; ++row) {
    int64_t position = firstOf(row);
    for (unsigned i = 0; i < count; ++i)
      rows[row * width + i] = position / steps[i] % problem.digits[i].size;
    for (unsigned dim = 0; dim < rank; ++dim) {
      if (!problem.frozen[dim].empty())
        rows[row * width + count + dim] =
            coordinate(problem.mesh, position, problem.frozen[dim]);
      Interval goal = held(target, row, dim);
      goals[row * rank + dim] = goal;
      wantedVolume[row] *= goal.size();
    }
  }
}

int64_t DeviceTable::rowOf(int64_t position) const {
  int64_t row = 0;
  for (unsigned axis : axes)
    row = row * problem.mesh.axes[axis].size +
          problem.mesh.coordinate(position, axis);
  return row;
}

int64_t DeviceTable::firstOf(int64_t row) const {
  int64_t position = 0;
  for (auto [axis, stride] : llvm::reverse(llvm::zip_equal(axes, strides))) {
    int64_t size = problem.mesh.axes[axis].size;
    position += row % size * stride;
    row /= size;
  }
  return position;
}

int64_t DeviceTable::number(const View &view, int64_t position,
                            unsigned dim) const {
  const int32_t *row = rows.data() + position * width;
  int64_t number = row[problem.digits.size() + dim];
  for (uint8_t digit : view.lists[dim])
    number = number * problem.digits[digit].size + row[digit];
  return number;
}

Interval DeviceTable::held(const View &view, int64_t position,
                           unsigned dim) const {
  int64_t n = problem.shape[dim], c = view.local[dim];
  int64_t begin = std::min(number(view, position, dim) * c, n);
  return {begin, std::min(begin + c, n)};
}

int64_t DeviceTable::shard(const View &view, int64_t position) const {
  int64_t shard = 0;
  for (unsigned dim = 0; dim < problem.rank(); ++dim)
    shard = shard * view.counts[dim] + number(view, position, dim);
  return shard;
}

int64_t DeviceTable::common(const View &view, int64_t position,
                            unsigned dim) const {
  Interval a = held(view, position, dim),
           b = goals[position * problem.rank() + dim];
  return Interval{std::max(a.begin, b.begin), std::min(a.end, b.end)}.size();
}

int64_t DeviceTable::missing(const View &view, int64_t position) const {
  int64_t both = wantedVolume[position] != 0;
  for (unsigned dim = 0; dim < problem.rank() && both != 0; ++dim)
    both *= common(view, position, dim);
  return wantedVolume[position] - both;
}

//===----------------------------------------------------------------------===//
// Bytes that must arrive
//===----------------------------------------------------------------------===//

static bool divides(const Problem &problem, llvm::ArrayRef<int64_t> counts) {
  return llvm::all_of(llvm::zip_equal(problem.shape, counts), [](auto pair) {
    auto [n, count] = pair;
    return n % count == 0;
  });
}

bool reshard::evenThroughout(const Problem &problem, const View &view,
                             const View &target) {
  return problem.independent && divides(problem, view.counts) &&
         divides(problem, target.counts);
}

/// The missing elements for even shards over independent digits. If the old and
/// new lists of a dimension differ at some digit, some device has coordinate 0
/// of the old digit and the last coordinate of the new one. Its two shards are
/// disjoint, and it lacks all elements. Otherwise one list begins with the
/// other and shards nest.
static int64_t closedForm(const Problem &problem, const View &view,
                          const View &target) {
  int64_t common = 1;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    llvm::ArrayRef<uint8_t> a = view.lists[dim], b = target.lists[dim];
    size_t length = std::min(a.size(), b.size());
    if (a.take_front(length) != b.take_front(length))
      return target.localElements;
    common *=
        problem.shape[dim] / std::max(view.counts[dim], target.counts[dim]);
  }
  return target.localElements - common;
}

static int64_t missingOnAny(const Problem &problem, const View &view,
                            const View &target, int64_t mostAsked) {
  // A summand must still arrive for each element.
  if (!view.reduced)
    return divides(problem, target.counts) ? target.localElements : 0;
  if (evenThroughout(problem, view, target))
    return closedForm(problem, view, target);
  const DeviceTable &table = problem.devices();
  int64_t devices = problem.mesh.size(), most = 0;
  if (mostAsked >= devices) {
    for (int64_t row = 0; row < table.devices(); ++row)
      most = std::max(most, table.missing(view, row));
    return most;
  }
  // The stride, a large prime, spreads the examined devices.
  for (int64_t i = 0; i < mostAsked; ++i)
    most = std::max(most, table.missing(view, table.rowOf(i * 7919 % devices)));
  return most;
}

int64_t reshard::missingElements(const Problem &problem, const View &view,
                                 const View &target) {
  return missingOnAny(problem, view, target, mostAsked);
}

int64_t reshard::missingElementsExactly(const Problem &problem,
                                        const View &view, const View &target) {
  return missingOnAny(problem, view, target, problem.mesh.size());
}

/// An integer that can count the elements of a tensor on all devices, which may
/// exceed int64_t.
using Wide = __int128;

static int64_t narrowed(Wide number) {
  Wide most = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(most, number));
}

/// The least bytes that some device receives for a reduction. Adding q summands
/// takes at least q-1 messages for an element until the first device has the
/// total, one of which completes it, and one more for every other device that
/// wants it: (q-2) + r over all elements and groups. The mean over devices is a
/// bound, and no device receives less than it wants.
static int64_t summandBound(const Problem &problem, const View &target,
                            int64_t summands) {
  int64_t devices = problem.mesh.size();
  int64_t most = target.localElements, elements = 1;
  Wide wanted = Wide(most) * devices;
  if (!divides(problem, target.counts)) {
    const DeviceTable &table = problem.devices();
    most = wanted = 0;
    for (int64_t row = 0; row < table.devices(); ++row) {
      most = std::max(most, table.wanted(row));
      wanted += Wide(table.wanted(row)) * (devices / table.devices());
    }
  }
  for (int64_t n : problem.shape)
    elements *= n;
  int64_t groups = shardCount(problem.frozenPartial);
  Wide total = Wide(groups) * (summands - 2) * elements + wanted;
  Wide mean = (total * problem.elementBytes + devices - 1) / devices;
  return std::max(most * problem.elementBytes, narrowed(mean));
}

int64_t reshard::lowerBoundBytes(const Problem &problem) {
  int64_t summands = 1, made = 1;
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i) {
    if (problem.source.place[i] == partialFrom)
      summands *= problem.digits[i].size;
    if (problem.target.place[i] == partialTo)
      made *= problem.digits[i].size;
  }
  View source(problem, problem.source), target(problem, problem.target);
  if (summands > 1)
    // A device whose new summand is neutral needs no element.
    return made > 1 ? 0 : summandBound(problem, target, summands);
  return missingElementsExactly(problem, source, target) * problem.elementBytes;
}

int64_t reshard::sentElements(const Problem &problem, const View &view,
                              const View &target) {
  // Each holder of an even shard sends at most total wanted / holders elements:
  // a device receives as many anyway, or only the missing ones if shards nest.
  if (evenThroughout(problem, view, target))
    return 0;
  const DeviceTable &table = problem.devices();
  int64_t devices = table.devices(), before = 1, after = 1;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    before *= view.counts[dim];
    after *= target.counts[dim];
  }
  int64_t holders = devices / before, copies = devices / after;
  // The elements that other devices need of each shard: those of all copies,
  // except the ones that a holder keeps.
  std::vector<Wide> wanted(before, 0);
  for (int64_t position = 0; position < devices; ++position) {
    int64_t shard = table.shard(view, position), volume = 1;
    for (unsigned dim = 0; dim < problem.rank(); ++dim)
      volume *= table.held(view, position, dim).size();
    int64_t kept = table.wanted(position) - table.missing(view, position);
    // The terms of all holders of a shard add up to a multiple of `holders`:
    // each term is the holder's part of the copies.
    wanted[shard] += Wide(volume) * copies - Wide(kept) * holders;
  }
  Wide most = 0;
  for (Wide rest : wanted)
    most = std::max(most, (rest / holders + holders - 1) / holders);
  return narrowed(most);
}
