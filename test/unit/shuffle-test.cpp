// Orders of samples are compared with those of Keras' fit
// (test/fixtures/rng/shuffle.json).
#include "catch2/catch.hpp"
#include "weft/base/MersenneTwister.h"

#include <fstream>
#include <nlohmann/json.hpp>

using namespace weft;
using nlohmann::json;

static json fixture(const char *name) {
  std::ifstream file(std::string(WEFT_FIXTURES "/rng/") + name);
  return json::parse(file);
}

TEST_CASE("permutations are numpy's") {
  auto generator = MersenneTwister::numpy(1337);
  CHECK(generator.permutation(10) ==
        fixture("shuffle.json")["first_draw_after_set_random_seed_1337"]
            .get<std::vector<int64_t>>());
}

TEST_CASE("fit's permutations come in numpy's order") {
  const json shuffle = fixture("shuffle.json"); // outlives its rows
  for (const json &row : shuffle["rows"]) {
    auto generator =
        MersenneTwister::numpy(row["set_random_seed"].get<uint32_t>());
    for (const json &call : row["fit_calls"])
      for (const json &drawn : call["permutations_drawn"]) {
        auto expected = drawn.get<std::vector<int64_t>>();
        REQUIRE(generator.permutation(expected.size()) == expected);
      }
  }
}

TEST_CASE("seeds are those that set_random_seed hands out") {
  auto python = MersenneTwister::python(1337);
  for (uint32_t seed : {663307073u, 993786079u, 572589546u, 762227828u})
    CHECK(python.kerasSeed() == seed);
}
