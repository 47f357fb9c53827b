//===- ReshardBound.cpp - what must arrive at least -----------------------===//

#include "weft/passes/sharding/ReshardSteps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace weft;
using namespace weft::reshard;

/// Devices that are asked within the search; any subset of them gives a bound.
static constexpr int64_t mostAsked = 16;

/// own() of a device in every dimension, intersected with the target's.
static int64_t missingOn(const Problem &problem, const Layout &layout,
                         int64_t position) {
  int64_t wanted = 1, common = 1;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    auto interval = [&](const SubAxes &axes) {
      return shardInterval(problem.shape[dim], shardCount(axes),
                           coordinate(problem.mesh, position, axes));
    };
    Interval a = interval(layout.dims[dim]), b = interval(problem.to.dims[dim]);
    wanted *= b.size();
    common *=
        Interval{std::max(a.begin, b.begin), std::min(a.end, b.end)}.size();
  }
  return wanted - common;
}

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

/// Even shards over independent digits. Where the lists of a dimension part
/// with different digits, some device has coordinate 0 of the one and the last
/// of the other: what it holds and what it wants are disjoint, and it lacks
/// all it wants. Elsewhere one list begins with the other and shards nest.
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

int64_t reshard::missingElements(const Problem &problem, const State &state,
                                 const View &view, const View &target) {
  // A summand for each element has still to arrive.
  bool even = divides(problem, target.counts);
  if (!view.reduced)
    return even ? target.localElements : 0;
  if (evenThroughout(problem, view, target))
    return closedForm(problem, view, target);
  Layout layout = problem.layout(state);
  int64_t devices = problem.mesh.size(), most = 0;
  int64_t asked = std::min(devices, mostAsked);
  // A large prime as the stride spreads them.
  for (int64_t i = 0; i < asked; ++i) {
    int64_t position = asked == devices ? i : i * 7919 % devices;
    most = std::max(most, missingOn(problem, layout, position));
  }
  return most;
}

/// Summands add up at no less than q-1 messages for an element until the first
/// device has the total, one of which completes it, and one more for every
/// other device that wants it: (q-2) + r over all elements and groups. No
/// device gets by with less than it wants.
static int64_t summandBound(const Problem &problem, int64_t summands) {
  int64_t most = 0, wanted = 0, elements = 1;
  for (int64_t position = 0, e = problem.mesh.size(); position < e;
       ++position) {
    int64_t size =
        volume(own(problem.mesh, problem.to, problem.shape, position));
    most = std::max(most, size);
    wanted += size;
  }
  for (int64_t n : problem.shape)
    elements *= n;
  int64_t groups = shardCount(problem.frozenPartial);
  int64_t total = groups * (summands - 2) * elements + wanted;
  int64_t devices = problem.mesh.size();
  int64_t mean = (total * problem.elementBytes + devices - 1) / devices;
  return std::max(most * problem.elementBytes, mean);
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
    // A device whose new summand is neutral wants nothing.
    return made > 1 ? 0 : summandBound(problem, summands);
  if (evenThroughout(problem, source, target))
    return closedForm(problem, source, target) * problem.elementBytes;
  return receiveLowerBound(problem.mesh, problem.from, problem.to,
                           problem.shape) *
         problem.elementBytes;
}

int64_t reshard::sentElements(const Problem &problem, const State &state) {
  View view(problem, state), target(problem, problem.target);
  // Each holder of an even shard sends at most total wanted / holders, which
  // is what a device wants; where shards nest, exactly what it lacks.
  if (evenThroughout(problem, view, target))
    return 0;
  Layout layout = problem.layout(state);
  std::map<llvm::SmallVector<int64_t, 4>, int64_t> kept;
  int64_t devices = problem.mesh.size(), most = 0, before = 1, after = 1;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    before *= view.counts[dim];
    after *= target.counts[dim];
  }
  int64_t holders = devices / before, copies = devices / after;
  for (int64_t position = 0; position < devices; ++position) {
    Box held = own(problem.mesh, layout, problem.shape, position);
    Box wanted = own(problem.mesh, problem.to, problem.shape, position);
    llvm::SmallVector<int64_t, 4> shard;
    for (const Interval &interval : held)
      shard.push_back(interval.begin);
    auto [entry, fresh] = kept.try_emplace(shard, volume(held) * copies);
    entry->second -= volume(intersect(held, wanted));
  }
  for (const auto &[shard, rest] : kept)
    most = std::max(most, (rest + holders - 1) / holders);
  return most;
}
