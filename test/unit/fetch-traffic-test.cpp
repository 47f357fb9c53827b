//===- fetch-traffic-test.cpp - positions sent, counted and calculated ----===//
//
// `mostPositionsSent` computes how many positions the busiest member sends,
// without a loop over positions. The test counts position by position, for all
// small formulas and for larger ones drawn at random.
//
//===----------------------------------------------------------------------===//

#include "weft/layout/FetchTraffic.h"

#include "catch2/catch.hpp"

#include <algorithm>
#include <random>
#include <vector>

using namespace weft;

/// Counts by the definition in FetchTraffic.h, position by position.
static int64_t countOneByOne(const FetchedPositions &f, int64_t members,
                             int64_t count) {
  int64_t held = (f.size + members - 1) / members;
  std::vector<int64_t> sent(members, 0);
  for (int64_t k = 0; k < members; ++k)
    for (int64_t t = 0; t < count; ++t) {
      int64_t at = f.block * k + f.step * t + f.offset;
      if (f.modulus > 0)
        at = (at % f.modulus + f.modulus) % f.modulus;
      if (at < 0 || at % f.divisor != 0 || at / f.divisor >= f.size)
        continue;
      int64_t member = at / f.divisor / held;
      sent[member] += member != k;
    }
  return *std::max_element(sent.begin(), sent.end());
}

static void compare(const FetchedPositions &f, int64_t members, int64_t count) {
  int64_t expected = countOneByOne(f, members, count);
  int64_t sent = mostPositionsSent(f, members, count);
  if (sent != expected) {
    CAPTURE(f.size, f.block, f.step, f.offset, f.divisor, f.modulus, members,
            count);
    CHECK(sent == expected);
  }
}

TEST_CASE("halos send one position, as in the header") {
  FetchedPositions halo = {8, 4, 1, -1, 1, 0};
  CHECK(mostPositionsSent(halo, 2, 6) == 1);
}

TEST_CASE("every small formula") {
  int64_t compared = 0;
  for (int64_t size : {0, 1, 5, 8})
    for (int64_t members : {1, 2, 3})
      for (int64_t block = -2; block <= 4; block += 2)
        for (int64_t step = -3; step <= 3; ++step)
          for (int64_t offset = -7; offset <= 7; offset += 2)
            for (int64_t divisor = 1; divisor <= 4; ++divisor)
              for (int64_t modulus : {0, 1, 5, 8, 12})
                for (int64_t count : {0, 1, 7}) {
                  compare({size, block, step, offset, divisor, modulus},
                          members, count);
                  ++compared;
                }
  CHECK(compared == 4 * 3 * 4 * 7 * 8 * 4 * 5 * 3);
}

TEST_CASE("larger formulas, drawn at random") {
  std::mt19937 random(17);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 20000; ++trial)
    compare({draw(0, 200), draw(-90, 90), draw(-40, 40), draw(-300, 300),
             draw(1, 12), draw(0, 1) ? draw(1, 250) : 0},
            draw(1, 9), draw(0, 120));
}

TEST_CASE("the time does not grow with the number of positions") {
  int64_t size = int64_t(1) << 52;
  FetchedPositions reversed = {size, -(size / 4), -1, size - 1, 1, 0};
  CHECK(mostPositionsSent(reversed, 4, size / 4) == size / 4);
  FetchedPositions rolled = {size, size / 4, 1, -5, 1, size};
  CHECK(mostPositionsSent(rolled, 4, size / 4) == 5);
}
