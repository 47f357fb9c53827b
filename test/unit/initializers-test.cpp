// Random numbers and initial values are compared with those of JAX and Keras
// 3.15 (test/fixtures/rng).
#include "catch2/catch.hpp"
#include "weft/base/Threefry.h"
#include "weft/data/formats/Npz.h"
#include "weft/data/initializers/Initializers.h"
#include "weft/test/unit/distance.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

using namespace weft;
using nlohmann::json;

#define RNG WEFT_FIXTURES "/rng/"

/// Returns the distance of two floats in units in the last place.
static int64_t ulps(float a, float b) {
  auto ordered = [](float value) {
    int32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits < 0 ? -int64_t(bits & 0x7FFFFFFF) : int64_t(bits);
  };
  return std::abs(ordered(a) - ordered(b));
}

static int64_t worst(const std::vector<float> &ours, const Array &theirs) {
  REQUIRE(int64_t(ours.size()) == theirs.count());
  int64_t most = 0;
  for (size_t i = 0; i < ours.size(); ++i)
    most = std::max(most, ulps(ours[i], theirs.data<float>()[i]));
  return most;
}

TEST_CASE("threefry draws JAX's numbers") {
  Result<std::vector<NamedArray>> golden = readNpz(RNG "threefry.npz");
  REQUIRE(golden);
  int compared = 0;
  // The names are KEY/KIND or KEY/SHAPE/KIND, with the two words of the key.
  const std::regex form("(\\d+)-(\\d+)/(?:[^/]+/)?([^/]+)");
  for (const auto &[name, array] : *golden) {
    INFO(name);
    std::smatch parts;
    if (!std::regex_match(name, parts, form))
      continue;
    ThreefryKey key{uint32_t(std::stoul(parts[1])),
                    uint32_t(std::stoul(parts[2]))};
    std::vector<float> out(array.count());
    std::string kind = parts[3];
    if (kind == "bits") {
      for (int64_t i = 0; i < array.count(); ++i)
        REQUIRE(key.bits(i) == array.data<uint32_t>()[i]);
    } else if (kind == "uniform") {
      key.uniform(out);
      CHECK(worst(out, array) == 0);
    } else if (kind == "uniform_-2_5") {
      key.uniform(out, -2, 5);
      CHECK(worst(out, array) == 0);
    } else if (kind == "normal") {
      key.normal(out);
      CHECK(worst(out, array) == 0);
    } else if (kind == "truncated_normal") {
      key.truncatedNormal(out, -2, 2);
      CHECK(worst(out, array) == 0);
    } else if (kind == "split3") {
      for (int64_t i = 0; i < 3; ++i) {
        CHECK(key.split(i).k0 == array.data<uint32_t>()[2 * i]);
        CHECK(key.split(i).k1 == array.data<uint32_t>()[2 * i + 1]);
      }
    } else if (kind == "fold_in_9") {
      CHECK(key.foldIn(9).k0 == array.data<uint32_t>()[0]);
      CHECK(key.foldIn(9).k1 == array.data<uint32_t>()[1]);
    } else {
      continue;
    }
    ++compared;
  }
  CHECK(compared > 100);
}

TEST_CASE("a part of an array is drawn like the whole") {
  ThreefryKey key = ThreefryKey::ofSeed(1337);
  std::vector<float> whole(100), part(30);
  key.normal(whole);
  key.normal(part, 50);
  CHECK(std::equal(part.begin(), part.end(), whole.begin() + 50));
}

TEST_CASE("every initializer gives Keras' values") {
  std::ifstream file(RNG "initializers.json");
  json rows = json::parse(file);
  Result<NpzFile> arrays = NpzFile::open(RNG "initializers.npz");
  REQUIRE(arrays);
  for (const json &row : rows) {
    Result<Array> golden = arrays->read(row["array"].get<std::string>());
    REQUIRE(golden);
    Result<Array> ours = initialize(row["initializer"].dump(), std::nullopt,
                                    row["shape"].get<Shape>());
    INFO(row.dump());
    REQUIRE(ours);
    REQUIRE(ours->shape == golden->shape);
    std::string kind = row["initializer"]["class_name"];
    int64_t most = 0;
    double far = 0;
    for (int64_t i = 0; i < ours->count(); ++i) {
      float a = ours->data<float>()[i], b = golden->data<float>()[i];
      most = std::max(most, ulps(a, b));
      far = std::max(far, weft::test::distance(a, b));
    }
    if (kind == "Orthogonal")
      CHECK(far < 1e-6);
    else if (kind == "RandomNormal" || kind == "TruncatedNormal")
      CHECK(most == 0);
    else if (kind == "Identity") // Keras' config loses the gain, 2 here
      CHECK(golden->at(0) == 2 * ours->at(0));
    else
      CHECK(most == 0);
  }
}

TEST_CASE("a block of an initializer has the elements of the whole array") {
  std::ifstream file(RNG "initializers.json");
  for (const json &row : json::parse(file))
    for (ElementType type : {ElementType::Float32, ElementType::BFloat16}) {
      if (type != ElementType::Float32 &&
          row["initializer"]["class_name"] == "Orthogonal")
        continue; // other types than float32 are refused
      INFO(row.dump());
      Shape shape = row["shape"].get<Shape>();
      std::string text = row["initializer"].dump();
      Result<Array> all = initialize(text, std::nullopt, shape, type);
      Result<StoredArray> drawn = initialArray(text, std::nullopt, shape, type);
      REQUIRE(all);
      REQUIRE(drawn);
      std::vector<uint8_t> bytes;
      for (const ArrayBlock &block : blocksOf(shape, 5)) {
        Result<Array> part = drawn->readBlock(block);
        REQUIRE(part);
        bytes.insert(bytes.end(), part->bytes.begin(), part->bytes.end());
      }
      CHECK(bytes == all->bytes);
    }
}

TEST_CASE("an initializer that cannot run says why") {
  CHECK(initialize("\"zeros\"", {}, {2})->at(1) == 0);
  CHECK(initialize("\"frob\"", 1, {2})
            .message()
            .find("initializer \"frob\" is not supported; supported "
                  "initializers are Constant, GlorotNormal") !=
        std::string::npos);
  CHECK(initialize(R"({"class_name": "Constant", "config": {"valeu": 2}})", {},
                   {2})
            .message()
            .find("unknown field \"valeu\", did you mean \"value\"?") !=
        std::string::npos);
  CHECK(
      initialize("\"glorot_uniform\"", {}, {2}).message().find("has no seed") !=
      std::string::npos);
  CHECK(initialize("\"orthogonal\"", 1, {2})
            .message()
            .find("needs two dimensions") != std::string::npos);
  CHECK(initialize("nonsense", 1, {2})
            .message()
            .find("initializer nonsense: is no JSON") == 0);
  Result<Array> state =
      initialize(R"({"class_name": "SeedGenerator", "config": {}})", 7, {2});
  REQUIRE(state);
  CHECK(state->type == ElementType::UInt32);
  CHECK(state->at(0) == 7);
  CHECK(state->at(1) == 0);
}
