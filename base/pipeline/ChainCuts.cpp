//===- ChainCuts.cpp - a chain of layers as stages ------------------------===//

#include "weft/base/pipeline/ChainCuts.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace weft;
using namespace weft::pipeline;

static constexpr double kNever = std::numeric_limits<double>::infinity();

double ChainCut::slowest() const {
  return seconds.empty() ? 0 : *std::ranges::max_element(seconds);
}

namespace {
/// Finds cuts by dynamic programming: the best one of the first layers in each
/// number of stages.
class Cutter {
public:
  Cutter(const std::vector<ChainLayer> &layers [[clang::lifetimebound]],
         const std::vector<int> &live [[clang::lifetimebound]])
      : layers(layers), live(live), sums(layers.size() + 1) {
    for (size_t i = 0; i < layers.size(); ++i) {
      sums[i + 1] = sums[i];
      sums[i + 1].seconds += layers[i].seconds;
      sums[i + 1].held += layers[i].held;
      sums[i + 1].live += layers[i].live;
    }
  }

  size_t stages() const { return live.size(); }
  /// What the layers from `begin` to `end` cost as a stage: without moves, which
  /// grows with their number, and with them.
  double workOf(size_t begin, size_t end) const {
    return sums[end].seconds - sums[begin].seconds;
  }
  double secondsOf(size_t begin, size_t end) const {
    double first = begin > 0 ? layers[begin].border : 0;
    double last = end < layers.size() ? layers[end].border : 0;
    return workOf(begin, end) + first + last;
  }
  double bytesOf(size_t stage, size_t begin, size_t end) const {
    return sums[end].held - sums[begin].held +
           double(live[stage]) * (sums[end].live - sums[begin].live);
  }

  /// Combines the price of the first stages with that of one more; a stage has a
  /// price of `kNever` if it is not allowed.
  using Price = std::function<double(size_t stage, size_t begin, size_t end)>;
  using Join = double (*)(double, double);
  /// The first layers of the stages of the cheapest cut; none if no cut is
  /// allowed. `isEnough` tells of a stage that more layers only make worse.
  std::vector<size_t>
  find(const Price &price, Join join,
       const std::function<bool(size_t, size_t)> &isEnough) const;

private:
  const std::vector<ChainLayer> &layers;
  const std::vector<int> &live;
  std::vector<ChainLayer> sums; ///< of the layers before
};
} // namespace

std::vector<size_t>
Cutter::find(const Price &price, Join join,
             const std::function<bool(size_t, size_t)> &isEnough) const {
  size_t count = layers.size(), stages = live.size();
  std::vector<double> best(count + 1, kNever);
  best[0] = 0;
  std::vector<std::vector<size_t>> begins;
  for (size_t stage = 0; stage < stages; ++stage) {
    std::vector<double> next(count + 1, kNever);
    std::vector<size_t> begin(count + 1);
    for (size_t end = stage + 1; end + (stages - stage - 1) <= count; ++end)
      for (size_t at = end; at-- > stage && !isEnough(at, end);) {
        double all =
            best[at] == kNever ? kNever : join(best[at], price(stage, at, end));
        if (all < next[end]) {
          next[end] = all;
          begin[end] = at;
        }
      }
    best = std::move(next);
    begins.push_back(std::move(begin));
  }
  std::vector<size_t> found;
  if (best[count] == kNever)
    return found;
  for (size_t end = count, stage = stages; stage-- > 0; end = found.back())
    found.push_back(begins[stage][end]);
  std::ranges::reverse(found);
  return found;
}

static double larger(double a, double b) { return std::max(a, b); }
static double sum(double a, double b) { return a + b; }

static ChainCut describe(const Cutter &cutter, std::vector<size_t> begins,
                         size_t count) {
  ChainCut cut;
  for (size_t stage = 0; stage < begins.size(); ++stage) {
    size_t end = stage + 1 < begins.size() ? begins[stage + 1] : count;
    cut.seconds.push_back(cutter.secondsOf(begins[stage], end));
    cut.bytes.push_back(cutter.bytesOf(stage, begins[stage], end));
  }
  cut.begins = std::move(begins);
  return cut;
}

/// The best cut where each stage has at most `memory` bytes; none if there is
/// none.
static std::vector<size_t> fastest(const Cutter &cutter, double memory,
                                   size_t count) {
  auto allowed = [&](size_t stage, size_t begin, size_t end, double most) {
    double seconds = cutter.secondsOf(begin, end);
    bool fits = memory <= 0 || cutter.bytesOf(stage, begin, end) <= memory;
    return fits && seconds <= most ? seconds : kNever;
  };
  // Stages of several times the mean are of no cut that is tried first.
  double mean = cutter.workOf(0, count) / double(cutter.stages());
  std::vector<size_t> found;
  for (double most = 2 * mean; found.empty(); most = kNever) {
    auto price = [&](size_t stage, size_t begin, size_t end) {
      return allowed(stage, begin, end, most);
    };
    found = cutter.find(price, larger, [&](size_t begin, size_t end) {
      return cutter.workOf(begin, end) > most;
    });
    if (most == kNever)
      break;
  }
  if (found.empty())
    return found;
  double slowest = describe(cutter, found, count).slowest();
  auto square = [&](size_t stage, size_t begin, size_t end) {
    double seconds = allowed(stage, begin, end, slowest);
    return seconds * seconds;
  };
  return cutter.find(square, sum, [&](size_t begin, size_t end) {
    return cutter.workOf(begin, end) > slowest;
  });
}

/// The cut whose fullest stage has the least bytes.
static std::vector<size_t> smallest(const Cutter &cutter) {
  auto bytes = [&](size_t stage, size_t begin, size_t end) {
    return cutter.bytesOf(stage, begin, end);
  };
  return cutter.find(bytes, larger, [](size_t, size_t) { return false; });
}

Result<ChainCut>
weft::pipeline::cutChain(const std::vector<ChainLayer> &layers,
                         const std::vector<int> &liveMicrobatches,
                         double memory) {
  if (layers.size() < liveMicrobatches.size())
    return Error{"there are " + std::to_string(layers.size()) + " layers for " +
                 std::to_string(liveMicrobatches.size()) +
                 " stages; use at most as many stages as layers"};
  Cutter cutter(layers, liveMicrobatches);
  std::vector<size_t> begins = fastest(cutter, memory, layers.size());
  if (begins.empty())
    begins = smallest(cutter);
  return describe(cutter, std::move(begins), layers.size());
}
