// A million normal draws of each kind are JAX' and Keras', to the last bit
// (test/fixtures/rng/write_normal_digests.py).
#include "catch2/catch.hpp"
#include "weft/base/Threefry.h"
#include "weft/data/initializers/Initializers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace weft;
using nlohmann::json;

static constexpr size_t kBlock = 65536;

static json golden() {
  std::ifstream file(WEFT_FIXTURES "/rng/normal-digests.json");
  return json::parse(file);
}

/// Computes the FNV-1a hash of a block's 8-byte words, as
/// write_normal_digests.py does.
static std::string digest(const float *values) {
  uint64_t hash = 0xCBF29CE484222325;
  for (size_t i = 0; i < kBlock; i += 2) {
    uint64_t word;
    std::memcpy(&word, values + i, sizeof word);
    hash = (hash ^ word) * 0x100000001B3;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

static void check(const json &digests, const std::vector<float> &values) {
  REQUIRE(digests.size() * kBlock == values.size());
  for (size_t block = 0; block < digests.size(); ++block) {
    INFO("values " << block * kBlock << " and on");
    CHECK(digests[block] == digest(&values[block * kBlock]));
  }
}

TEST_CASE("every normal draw that there can be is XLA's") {
  std::vector<float> values(1 << 23);
  float low = std::nextafter(-1.0f, 0.0f);
  for (uint32_t i = 0; i < values.size(); ++i) {
    float unit = std::bit_cast<float>(i | 0x3F800000) - 1.0f;
    values[i] =
        1.41421356f * erfInv(std::fmax(low, std::fma(unit, 1.0f - low, low)));
  }
  check(golden()["every_normal"], values);
}

TEST_CASE("a million draws of a key are JAX'") {
  ThreefryKey key{0, 1337}; // jax.random.key(1337)
  std::vector<float> values(1 << 20);
  key.normal(values);
  check(golden()["normal"], values);
  key.truncatedNormal(values, -2, 2);
  check(golden()["truncated_normal"], values);
}

TEST_CASE("a million draws of each normal initializer are Keras'") {
  const json digests = golden(); // outlives its rows
  for (const json &row : digests["initializers"]) {
    INFO(row["initializer"].dump());
    Result<Array> drawn = initialize(row["initializer"].dump(), std::nullopt,
                                     row["shape"].get<Shape>());
    REQUIRE(drawn);
    check(row["digests"],
          {drawn->data<float>(), drawn->data<float>() + drawn->count()});
  }
}
