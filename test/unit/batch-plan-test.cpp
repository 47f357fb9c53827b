#include "weft/training/BatchPlan.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace weft;

TEST_CASE("the largest size that the samples fill runs first") {
  CHECK(planBatches(45, {8, 32}) ==
        std::vector<PlannedBatch>{{0, 32, 32}, {32, 8, 8}, {40, 5, 8}});
  CHECK(planBatches(13, {1, 4, 8}) ==
        std::vector<PlannedBatch>{{0, 8, 8}, {8, 4, 4}, {12, 1, 1}});
  CHECK(planBatches(3, {16, 8}) == std::vector<PlannedBatch>{{0, 3, 8}});
  CHECK(planBatches(0, {8}).empty());
}

TEST_CASE("padding repeats the last sample") {
  CHECK(paddedIndices({40, 5, 8}) ==
        std::vector<int64_t>{40, 41, 42, 43, 44, 44, 44, 44});
}

TEST_CASE("each sample runs once, in order, and less than the smallest size is "
          "padding") {
  for (std::vector<int64_t> sizes :
       {std::vector<int64_t>{1}, {3}, {2, 5}, {7, 4, 1}, {6, 10, 15}})
    for (int64_t samples = 1; samples < 64; ++samples) {
      int64_t next = 0, padding = 0;
      for (const PlannedBatch &batch : planBatches(samples, sizes)) {
        REQUIRE(batch.begin == next);
        REQUIRE(batch.samples >= 1);
        REQUIRE(std::count(sizes.begin(), sizes.end(), batch.size) == 1);
        next += batch.samples;
        padding += batch.size - batch.samples;
      }
      REQUIRE(next == samples);
      REQUIRE(padding < *std::min_element(sizes.begin(), sizes.end()));
    }
}
