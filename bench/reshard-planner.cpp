//===- reshard-planner.cpp - how long planning a reshard takes ------------===//
//
//   ninja -C build reshard-planner && build/bin/reshard-planner
//
// prints for each set of pairs the mean and the longest planning time, how many
// plans are proved optimal and the geometric mean of bytes over the bound (of
// no meaning where the bound is 0: partial to partial).
//
//===----------------------------------------------------------------------===//

#include "weft/passes/sharding/resharding/Resharding.h"
#include "weft/test/unit/EveryLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include <time.h>

using namespace weft;

namespace {
using Pair = std::pair<Layout, Layout>;

/// CPU time of this thread, so that a busy machine does not count.
double processorMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

Mesh meshOf(const char *text) {
  Mesh mesh;
  parseMesh(text, mesh);
  return mesh;
}

std::vector<Pair> everyPair(const Mesh &mesh, int64_t rank) {
  std::vector<Layout> layouts = everyLayout(mesh, rank);
  std::vector<Pair> pairs;
  for (const Layout &from : layouts)
    for (const Layout &to : layouts)
      if (!(from == to))
        pairs.push_back({from, to});
  return pairs;
}

/// A random layout: each sub-axis shards a dimension, replicates, or, if
/// `partial`, holds summands. With `cut`, some axes are split into two
/// sub-axes.
Layout randomLayout(const Mesh &mesh, int64_t rank, bool cut, bool partial,
                    std::mt19937 &random) {
  std::vector<SubAxis> digits;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    if (cut && random() % 2) {
      digits.push_back({axis, 1, 2});
      digits.push_back({axis, 2, mesh.axes[axis].size / 2});
    } else {
      digits.push_back(fullAxis(mesh, axis));
    }
  std::shuffle(digits.begin(), digits.end(), random);
  Layout layout = Layout::replicated(rank);
  for (const SubAxis &digit : digits) {
    uint64_t place = random() % (rank + 1 + partial);
    if (place < static_cast<uint64_t>(rank))
      layout.dims[place].push_back(digit);
    else if (place > static_cast<uint64_t>(rank))
      layout.partial.push_back(digit);
  }
  return normalise(mesh, layout);
}

std::vector<Pair> randomPairs(const Mesh &mesh, int64_t rank, bool cut,
                              bool partial) {
  std::mt19937 random(5);
  std::vector<Pair> pairs;
  for (int i = 0; i < 60; ++i) {
    Layout from = randomLayout(mesh, rank, cut, partial, random);
    pairs.push_back({from, randomLayout(mesh, rank, cut, partial, random)});
  }
  return pairs;
}

void measure(const char *name, const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
             llvm::ArrayRef<Pair> pairs, bool exchange, bool fewestBytes) {
  ReshardOptions options;
  options.allowExchange = exchange;
  options.fewestBytes = options.thorough = fewestBytes;
  double total = 0, longest = 0;
  size_t proved = 0, worst = 0;
  double ratio = 0;
  for (auto [index, pair] : llvm::enumerate(pairs)) {
    double begin = processorMicroseconds();
    ReshardPlan plan =
        planReshard(mesh, shape, 4, pair.first, pair.second, options);
    double took = processorMicroseconds() - begin;
    total += took;
    if (took > longest)
      longest = took, worst = index;
    proved += plan.optimal;
    ratio += std::log2((plan.bytesReceived + 1.0) / (plan.lowerBound + 1.0));
  }
  std::string from = toCommandText(mesh, pairs[worst].first),
              to = toCommandText(mesh, pairs[worst].second);
  std::printf("%-34s %-11s %-7s %6zu pairs %9.1f us mean %9.1f us longest  "
              "%5.1f %% proved  %.2f x bound  longest: %s -> %s\n",
              name, exchange ? "exchange" : "standard",
              fewestBytes ? "bytes" : "seconds", pairs.size(),
              total / pairs.size(), longest, 100.0 * proved / pairs.size(),
              std::exp2(ratio / pairs.size()), from.c_str(), to.c_str());
}

void measureAll(const char *name, const Mesh &mesh,
                llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Pair> pairs) {
  for (bool exchange : {true, false})
    for (bool fewestBytes : {false, true})
      measure(name, mesh, shape, pairs, exchange, fewestBytes);
}
} // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Mesh cube = meshOf("x=2,y=2,z=2");
  measureAll("2x2x2, 16x16x16", cube, {16, 16, 16}, everyPair(cube, 3));
  measureAll("2x2x2, 5x7x3", cube, {5, 7, 3}, everyPair(cube, 3));
  for (const char *text : {"x=2,y=3", "x=4,y=2"}) {
    Mesh mesh = meshOf(text);
    measureAll(text, mesh, {24, 24}, everyPair(mesh, 2));
    measureAll(text, mesh, {7, 5}, everyPair(mesh, 2));
  }
  Mesh large = meshOf("a=4,b=4,c=4,d=4,e=4,f=4");
  int64_t even[] = {4096, 1024, 256, 64}, odd[] = {4095, 1000, 77, 90};
  for (bool cut : {false, true})
    for (bool partial : {false, true}) {
      std::string name = "4^6 rank 4";
      name += cut ? ", cut" : "";
      name += partial ? ", partial" : "";
      std::vector<Pair> pairs = randomPairs(large, 4, cut, partial);
      measureAll((name + ", even").c_str(), large, even, pairs);
      measureAll((name + ", uneven").c_str(), large, odd, pairs);
    }
  return 0;
}
