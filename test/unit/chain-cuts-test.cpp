// Cuts of chains of layers, compared with all cuts.
#include "weft/base/pipeline/ChainCuts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <random>

using namespace weft;
using namespace weft::pipeline;

namespace {
/// The slowest and the fullest stage, and the sum of squares, by their
/// definitions.
struct Costs {
  double slowest = 0, fullest = 0, squares = 0;
};

Costs costsOf(const std::vector<ChainLayer> &layers,
              const std::vector<int> &live, const std::vector<size_t> &begins) {
  Costs costs;
  for (size_t stage = 0; stage < begins.size(); ++stage) {
    size_t end = stage + 1 < begins.size() ? begins[stage + 1] : layers.size();
    double seconds = 0, bytes = 0;
    for (size_t i = begins[stage]; i < end; ++i) {
      seconds += layers[i].seconds;
      bytes += layers[i].held + double(live[stage]) * layers[i].live;
    }
    seconds += stage > 0 ? layers[begins[stage]].border : 0;
    seconds += end < layers.size() ? layers[end].border : 0;
    costs.slowest = std::max(costs.slowest, seconds);
    costs.fullest = std::max(costs.fullest, bytes);
    costs.squares += seconds * seconds;
  }
  return costs;
}

/// Calls `visit` with each cut.
void forEachCut(size_t layers, size_t stages,
                const std::function<void(const std::vector<size_t> &)> &visit) {
  std::vector<int> isBegin(layers - 1);
  std::fill_n(isBegin.begin(), stages - 1, true);
  do {
    std::vector<size_t> begins{0};
    for (size_t i = 0; i < isBegin.size(); ++i)
      if (isBegin[i])
        begins.push_back(i + 1);
    visit(begins);
  } while (std::ranges::prev_permutation(isBegin).found);
}

/// The least of a cost over all cuts that are allowed; infinite without one.
double leastOf(const std::vector<ChainLayer> &layers,
               const std::vector<int> &live,
               const std::function<double(const Costs &)> &cost) {
  double least = std::numeric_limits<double>::infinity();
  forEachCut(layers.size(), live.size(), [&](const auto &begins) {
    least = std::min(least, cost(costsOf(layers, live, begins)));
  });
  return least;
}
} // namespace

TEST_CASE("the slowest stage is the least of all cuts") {
  std::mt19937 random(7);
  auto draw = [&](int most) {
    return double(std::uniform_int_distribution(0, most)(random));
  };
  int tight = 0, impossible = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<ChainLayer> layers(size_t(1 + draw(9)));
    for (ChainLayer &layer : layers)
      layer = {draw(9), draw(3), draw(9), draw(4)};
    std::vector<int> live(1 + size_t(draw(int(layers.size()) - 1)));
    for (size_t stage = 0; stage < live.size(); ++stage)
      live[stage] = int(live.size() - stage);
    double memory = turn % 2 ? 5 + draw(45) : 0;
    auto cut = cutChain(layers, live, memory);
    REQUIRE(cut);
    Costs got = costsOf(layers, live, cut->begins);
    CHECK(cut->slowest() == got.slowest);
    CHECK(*std::ranges::max_element(cut->bytes) == got.fullest);
    auto fits = [&](const Costs &costs) {
      return memory <= 0 || costs.fullest <= memory;
    };
    const double never = std::numeric_limits<double>::infinity();
    double least = leastOf(layers, live, [&](const Costs &costs) {
      return fits(costs) ? costs.slowest : never;
    });
    if (least == never) {
      ++impossible;
      CHECK(got.fullest == leastOf(layers, live, [](const Costs &costs) {
              return costs.fullest;
            }));
      continue;
    }
    tight += least > leastOf(layers, live,
                             [](const Costs &costs) { return costs.slowest; });
    CHECK(fits(got));
    CHECK(got.slowest == least);
    CHECK(got.squares == leastOf(layers, live, [&](const Costs &costs) {
            return fits(costs) && costs.slowest <= least ? costs.squares
                                                         : never;
          }));
  }
  CHECK(tight > 30);
  CHECK(impossible > 50);
}

TEST_CASE("the example of the header, and long chains") {
  auto layers = [](const std::vector<double> &seconds) {
    std::vector<ChainLayer> made;
    for (double each : seconds)
      made.push_back({each});
    return made;
  };
  CHECK(cutChain(layers({6, 1, 2, 3, 1}), {1, 1, 1})->begins ==
        std::vector<size_t>{0, 1, 3});
  auto equal =
      cutChain(layers(std::vector<double>(4096, 1)), std::vector<int>(64, 1));
  CHECK(equal->slowest() == 64);
  auto fewer = cutChain(layers({1, 2}), {1, 1, 1});
  REQUIRE(!fewer);
  CHECK(fewer.message() ==
        "there are 2 layers for 3 stages; use at most as many "
        "stages as layers");
}
