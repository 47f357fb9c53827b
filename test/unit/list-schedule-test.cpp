// Orders in which links are busy while a device computes, without IR.
#include "weft/passes/planning/ListSchedule.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace weft;

namespace {
ScheduledNode computed(double microseconds,
                       llvm::SmallVector<unsigned, 4> before = {}) {
  ScheduledNode node;
  node.seconds = microseconds * 1e-6;
  node.before = before;
  return node;
}
ScheduledNode sent(double microseconds, llvm::SmallVector<unsigned, 4> before,
                   unsigned axis = 0) {
  ScheduledNode node = computed(microseconds, before);
  node.isSent = true;
  node.axes = {axis};
  return node;
}
constexpr int64_t kMuch = int64_t(1) << 40;
} // namespace

TEST_CASE("passes/planning/ListSchedule.h: the backward pass of a layer") {
  StraightSteps steps;
  steps.nodes = {computed(1), sent(2, {0}), computed(3), computed(1, {1})};
  CHECK(asWritten(steps).seconds == Approx(7e-6));
  ListSchedule best = findOverlap(steps, Preference::Order, kMuch);
  CHECK(best.order == std::vector<unsigned>{0, 1, 2, 3});
  CHECK(best.seconds == Approx(5e-6));
}

TEST_CASE("what a collective waits for comes before other work") {
  StraightSteps steps; // the weight's gradient is the first of the program
  steps.nodes = {computed(3), computed(1), sent(2, {1}), computed(1, {2})};
  CHECK(findOverlap(steps, Preference::Order, kMuch).seconds == Approx(7e-6));
  ListSchedule best = findOverlap(steps, Preference::Path, kMuch);
  CHECK(best.order == std::vector<unsigned>{1, 2, 0, 3});
  CHECK(best.seconds == Approx(5e-6));
}

TEST_CASE("collectives over one axis follow one another") {
  StraightSteps steps;
  steps.nodes = {sent(2, {}), sent(2, {}), computed(1, {0, 1})};
  CHECK(findOverlap(steps, Preference::Order, kMuch).seconds == Approx(5e-6));
  steps.nodes[1].axes = {1};
  CHECK(findOverlap(steps, Preference::Order, kMuch).seconds == Approx(3e-6));
}

TEST_CASE("a gather starts shortly before its use, and where it fits") {
  // Four layers with gathered weights of 100 bytes, which take as long to
  // gather as a layer to compute.
  StraightSteps steps;
  for (unsigned layer = 0; layer < 4; ++layer) {
    steps.buffers.push_back({100, false, false});
    steps.nodes.push_back(sent(2, {}));
    steps.nodes.back().buffers = {layer};
    llvm::SmallVector<unsigned, 4> needs{2 * layer};
    if (layer)
      needs.push_back(2 * layer - 1);
    steps.nodes.push_back(computed(2, needs));
    steps.nodes.back().buffers = {layer};
  }
  ListSchedule written = asWritten(steps);
  CHECK(written.seconds == Approx(16e-6));
  CHECK(written.peak == 100);
  ListSchedule ahead = findOverlap(steps, Preference::Order, kMuch);
  CHECK(ahead.seconds == Approx(10e-6)); // the first gather is exposed
  CHECK(ahead.peak <= 300);              // and the last is not yet there
  CHECK(findOverlap(steps, Preference::Order, 200).seconds == Approx(10e-6));
  CHECK(findOverlap(steps, Preference::Order, 200).peak == 200);
  ListSchedule full = findOverlap(steps, Preference::Order, 100);
  CHECK(full.peak == 100);
  CHECK(full.seconds == Approx(16e-6));
}

TEST_CASE("random pieces: each node once, after what it needs, and no later "
          "than in the program's order") {
  std::mt19937 chance(7);
  for (int round = 0; round < 2000; ++round) {
    StraightSteps steps;
    unsigned count = 1 + chance() % 30;
    for (unsigned b = 0; b < count; ++b)
      steps.buffers.push_back(
          {int64_t(chance() % 100), chance() % 8 == 0, chance() % 8 == 0});
    for (unsigned n = 0; n < count; ++n) {
      llvm::SmallVector<unsigned, 4> before;
      for (unsigned other = 0; other < n; ++other)
        if (chance() % 6 == 0)
          before.push_back(other);
      steps.nodes.push_back(chance() % 3
                                ? computed(chance() % 9, before)
                                : sent(chance() % 9, before, chance() % 2));
      for (unsigned use = chance() % 3; use-- > 0;)
        if (unsigned b = chance() % count;
            !llvm::is_contained(steps.nodes.back().buffers, b))
          steps.nodes.back().buffers.push_back(b);
    }
    ListSchedule written = asWritten(steps);
    for (Preference preference : {Preference::Order, Preference::Path})
      for (int64_t bytes : {kMuch, written.peak, int64_t(0)}) {
        ListSchedule its = findOverlap(steps, preference, bytes);
        std::vector<unsigned> place(count, count);
        for (unsigned i = 0; i < its.order.size(); ++i)
          place[its.order[i]] = i;
        REQUIRE(its.order.size() == count);
        for (unsigned n = 0; n < count; ++n)
          for (unsigned before : steps.nodes[n].before)
            REQUIRE(place[before] < place[n]);
        REQUIRE(its.seconds <= written.seconds * (1 + 1e-9) + 1e-12);
      }
  }
}
