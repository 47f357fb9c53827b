//===- arena-packing-test.cpp - offsets for buffers by lifetime -----------===//
//
// Small cases have offsets worked out by hand; random ones are compared with
// the definition in ArenaPacking.h: larger buffers first, each at the lowest
// aligned offset where no buffer that lives at the same time lies.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/planning/ArenaPacking.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>
#include <vector>

using namespace weft;

namespace {
struct Case {
  const char *name;
  std::vector<Lifetime> lifetimes;
  std::vector<int64_t> offsets;
  int64_t bytes;
  int64_t alignment = 64;
};

const Case kCases[] = {
    {"the example of the header",
     {{64, 0, 2}, {64, 1, 3}, {64, 3, 4}},
     {0, 64, 0},
     128},
    {"nothing", {}, {}, 0},
    {"one", {{64, 3, 3}}, {0}, 64},
    {"one behind the other",
     {{64, 0, 1}, {64, 2, 3}, {64, 4, 5}},
     {0, 0, 0},
     64},
    {"both ends are included", {{64, 0, 1}, {64, 1, 2}}, {0, 64}, 128},
    {"all at once", {{64, 0, 9}, {64, 0, 9}, {64, 0, 9}}, {0, 64, 128}, 192},
    {"one lives inside of the other's time",
     {{64, 2, 2}, {128, 0, 4}},
     {128, 0},
     192},
    {"the larger is placed first, whatever the order",
     {{64, 0, 1}, {256, 0, 1}, {128, 0, 1}},
     {384, 0, 256},
     448},
    {"sizes are rounded up", {{1, 0, 0}, {65, 0, 0}}, {128, 0}, 192},
    {"another alignment", {{1, 0, 0}, {65, 0, 0}}, {80, 0}, 96, 16},
    {"no alignment", {{1, 0, 0}, {65, 0, 0}}, {65, 0}, 66, 1},
    // The first 192 bytes lie at 0, 128 after them, one buffer of 64 after
    // both; the second 64 lives when the 192 are gone, and takes their place.
    {"a gap is used",
     {{192, 0, 1}, {128, 0, 3}, {64, 0, 3}, {64, 2, 3}},
     {0, 192, 320, 0},
     384},
    // At time 1, 64 bytes are free between the two of 192.
    {"a narrow gap is passed by, and taken by a buffer that fits",
     {{256, 2, 4}, {192, 0, 1}, {192, 0, 2}, {128, 1, 1}, {64, 1, 1}},
     {0, 0, 256, 448, 192},
     576},
    // At most two buffers live at once, and 128 bytes would do: the third at 0,
    // the second and the fourth at 64.
    {"larger first is not always least",
     {{64, 3, 4}, {64, 0, 0}, {64, 0, 2}, {64, 2, 3}},
     {0, 0, 64, 128},
     192},
};

bool liveTogether(const Lifetime &a, const Lifetime &b) {
  for (int64_t at = a.first; at <= a.last; ++at)
    if (b.first <= at && at <= b.last)
      return true;
  return false;
}

/// Returns the bytes that a buffer occupies. A buffer of 0 bytes has an
/// address, too, and takes one unit of the alignment.
int64_t roundedUp(int64_t bytes, int64_t alignment) {
  int64_t units = (bytes + alignment - 1) / alignment;
  return std::max<int64_t>(units, 1) * alignment;
}

bool overlap(int64_t a, int64_t sizeA, int64_t b, int64_t sizeB) {
  return a < b + sizeB && b < a + sizeA;
}

/// Computes packArena's result by the definition in its header, trying every
/// offset.
std::vector<int64_t> byDefinition(const std::vector<Lifetime> &lifetimes,
                                  int64_t alignment) {
  std::vector<unsigned> order(lifetimes.size()), placed;
  std::iota(order.begin(), order.end(), 0u);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-lifetimes[a].bytes, a) <
           std::pair(-lifetimes[b].bytes, b);
  });
  std::vector<int64_t> offsets(lifetimes.size());
  for (unsigned index : order) {
    auto isTaken = [&](unsigned other) {
      return liveTogether(lifetimes[index], lifetimes[other]) &&
             overlap(
                 offsets[index], roundedUp(lifetimes[index].bytes, alignment),
                 offsets[other], roundedUp(lifetimes[other].bytes, alignment));
    };
    while (llvm::any_of(placed, isTaken))
      offsets[index] += alignment;
    placed.push_back(index);
  }
  return offsets;
}

/// Returns the most bytes that live at the same time.
int64_t mostLive(const std::vector<Lifetime> &lifetimes) {
  int64_t most = 0;
  for (const Lifetime &at : lifetimes) { // the most live when one begins
    int64_t live = 0;
    for (const Lifetime &other : lifetimes)
      if (other.first <= at.first && at.first <= other.last)
        live += other.bytes;
    most = std::max(most, live);
  }
  return most;
}

std::vector<Lifetime> randomLifetimes(std::mt19937 &random) {
  std::vector<Lifetime> lifetimes(random() % 24);
  int64_t end = 1 + random() % 16, most = random() % 2 ? 8 : 1000;
  for (Lifetime &it : lifetimes) {
    it.bytes = int64_t(random() % (most + 1));
    it.first = int64_t(random() % end);
    it.last = it.first + int64_t(random() % (end - it.first));
  }
  return lifetimes;
}

void checkPacking(const std::vector<Lifetime> &lifetimes, int64_t alignment) {
  ArenaPacking packing = packArena(lifetimes, alignment);
  REQUIRE(packing.offsets.size() == lifetimes.size());
  int64_t sum = 0, top = 0;
  for (unsigned a = 0; a < lifetimes.size(); ++a) {
    int64_t size = roundedUp(lifetimes[a].bytes, alignment);
    sum += size;
    top = std::max(top, packing.offsets[a] + size);
    REQUIRE(packing.offsets[a] >= 0);
    REQUIRE(packing.offsets[a] % alignment == 0);
    for (unsigned b = 0; b < a; ++b)
      if (liveTogether(lifetimes[a], lifetimes[b]))
        REQUIRE_FALSE(overlap(packing.offsets[a], size, packing.offsets[b],
                              roundedUp(lifetimes[b].bytes, alignment)));
  }
  REQUIRE(packing.bytes == top);
  REQUIRE(packing.bytes >= mostLive(lifetimes));
  REQUIRE(packing.bytes <= sum);
  REQUIRE(llvm::ArrayRef(packing.offsets) ==
          llvm::ArrayRef(byDefinition(lifetimes, alignment)));
}
} // namespace

TEST_CASE("each buffer lies at the lowest place that is free") {
  for (const Case &it : kCases) {
    INFO(it.name);
    ArenaPacking packing = packArena(it.lifetimes, it.alignment);
    CHECK(std::vector<int64_t>(packing.offsets.begin(),
                               packing.offsets.end()) == it.offsets);
    CHECK(packing.bytes == it.bytes);
  }
}

TEST_CASE("buffers that live together do not overlap, and none is too high") {
  std::mt19937 random(20261122);
  for (int trial = 0; trial < 600; ++trial) {
    std::vector<Lifetime> lifetimes = randomLifetimes(random);
    INFO("trial " << trial);
    checkPacking(lifetimes, int64_t(1) << (random() % 8));
  }
}

TEST_CASE("buffers of different parts of the mesh share memory") {
  MeshPart first = {{0, 0}}, second = {{0, 1}}, other = {{1, 0}};
  // At the same time, on devices that differ in a coordinate.
  CHECK(packArena({{64, 0, 2, first}, {64, 0, 2, second}}).bytes == 64);
  // Some devices are in both parts.
  CHECK(packArena({{64, 0, 2, first}, {64, 0, 2, other}}).bytes == 128);
  CHECK(packArena({{64, 0, 2, first}, {64, 0, 2, {}}}).bytes == 128);
}
