// Compares kernels of Weft, as weft-opt prints them while the test runs, with
// plain C++: in one block and several, in several orders, without a finding.
#include "weft/test/cuda/PtxTest.h"

#include <cmath>
#include <cstdio>
#include <random>

using namespace weft::ptx;
using Floats = std::vector<float>;

/// The PTX of test/pipeline/Inputs/gpu-kernels.mlir.
static const std::string &kernels() {
  static const std::string text = [] {
    std::string all,
        command = WEFT_OPT
        " " WEFT_GPU_KERNELS " --weft-choose-nests=target=cuda:sm_90a "
        "--weft-print-assembly=target=cuda:sm_90a -o /dev/null 2>/dev/null";
    FILE *pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    char chunk[4096];
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, pipe)) > 0;)
      all.append(chunk, got);
    REQUIRE(pclose(pipe) == 0);
    return all;
  }();
  return text;
}

static Floats drawn(size_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  Floats values(count);
  for (float &value : values)
    value = normal(engine);
  return values;
}

/// Runs a kernel with each shape; `prepare` returns its parameters, `check`
/// reads the results.
template <class Prepare, class Check>
static void onEachShape(const std::string &kernel, Prepare prepare,
                        Check check) {
  for (uint32_t blocks : {1, 2, 5})
    for (uint64_t seed : {0, 1, 2}) {
      INFO(kernel << " in " << blocks << " blocks, seed " << seed);
      Bench bench;
      std::vector<uint64_t> parameters = prepare(bench);
      parameters.push_back(bench.array("coordinates", std::vector<int64_t>{0}));
      bench.run(kernels(), kernel, parameters,
                {{blocks, 1, 1}, {256, 1, 1}, 0, seed});
      CHECK(bench.texts() == "");
      check(bench);
    }
}

TEST_CASE("an update in place") {
  Floats v = drawn(370, 1), g = drawn(370, 2), w = drawn(370, 3);
  for (float &value : v)
    value = std::fabs(value);
  onEachShape(
      "update",
      [&](Bench &b) {
        uint64_t atV = b.array("v", v), atG = b.array("g", g),
                 atRate = b.array("rate", Floats{0.01f}), atW = b.array("w", w);
        return std::vector<uint64_t>{atV, atG, atRate, atW, atV, atW};
      },
      [&](const Bench &b) {
        Floats newV = b.read<float>("v"), newW = b.read<float>("w");
        for (size_t i = 0; i < v.size();
             ++i) { // each step is rounded by itself
          volatile float decayed = v[i] * 0.9f, square = g[i] * g[i],
                         fresh = square * 0.1f;
          volatile float sum = decayed + fresh, shifted = sum + 1e-7f,
                         step = 0.01f * g[i];
          volatile float root = std::sqrt(shifted), quotient = step / root;
          CHECK(newV[i] == sum);
          CHECK(newW[i] == w[i] - quotient);
        }
      });
}

TEST_CASE("a bias, a relu and a mask of bytes") {
  Floats x = drawn(320, 4), bias = drawn(20, 5);
  onEachShape(
      "bias_relu",
      [&](Bench &b) {
        return std::vector<uint64_t>{
            b.array("x", x), b.array("bias", bias),
            b.array("y", Floats(320), false),
            b.array("mask", std::vector<uint8_t>(320, 99), false)};
      },
      [&](const Bench &b) {
        Floats y = b.read<float>("y");
        auto mask = b.read<uint8_t>("mask");
        for (size_t i = 0; i < 320; ++i) {
          float sum = x[i] + bias[i % 20];
          CHECK(y[i] == std::max(sum, 0.0f));
          CHECK(mask[i] == (sum > 0));
        }
      });
}

TEST_CASE("a softmax of rows") {
  Floats x = drawn(13 * 70, 6, 4);
  onEachShape(
      "softmax",
      [&](Bench &b) {
        return std::vector<uint64_t>{b.array("x", x),
                                     b.array("y", Floats(x.size()), false)};
      },
      [&](const Bench &b) {
        Floats y = b.read<float>("y");
        for (size_t row = 0; row < 13; ++row) {
          float most = -HUGE_VALF;
          double sum = 0;
          for (size_t i = 0; i < 70; ++i)
            most = std::max(most, x[row * 70 + i]);
          for (size_t i = 0; i < 70; ++i)
            sum += std::exp(double(x[row * 70 + i] - most));
          for (size_t i = 0; i < 70; ++i)
            CHECK(y[row * 70 + i] ==
                  Approx(std::exp(double(x[row * 70 + i] - most)) / sum)
                      .epsilon(1e-6));
        }
      });
}

TEST_CASE("a mean that all warps write, sums of short types") {
  Floats x = drawn(45, 7);
  double sum = 0;
  for (float value : x)
    sum += value;
  onEachShape(
      "mean",
      [&](Bench &b) {
        return std::vector<uint64_t>{b.array("x", x),
                                     b.array("y", Floats(1), false)};
      },
      [&](const Bench &b) {
        CHECK(b.read<float>("y")[0] == Approx(sum / 45).margin(1e-6));
      });
  std::vector<uint16_t> brains;
  std::vector<int8_t> bytes;
  for (float value : drawn(240, 8)) {
    brains.push_back(uint16_t(std::bit_cast<uint32_t>(value) >> 16));
    bytes.push_back(int8_t(std::bit_cast<uint32_t>(value) >> 3));
  }
  onEachShape(
      "wide_sums",
      [&](Bench &b) {
        return std::vector<uint64_t>{
            b.array("x", brains), b.array("i", bytes),
            b.array("y", Floats(6), false),
            b.array("z", std::vector<int32_t>(6), false)};
      },
      [&](const Bench &b) {
        for (size_t row = 0; row < 6; ++row) {
          double floats = 0;
          int32_t integers = 0;
          for (size_t i = row * 40; i < row * 40 + 40; ++i) {
            floats += std::bit_cast<float>(uint32_t(brains[i]) << 16);
            integers += bytes[i];
          }
          CHECK(b.read<float>("y")[row] == Approx(floats).margin(1e-5));
          CHECK(b.read<int32_t>("z")[row] == integers);
        }
      });
}

TEST_CASE("rows of a table, turned and clamped") {
  Floats table = drawn(30, 9);
  std::vector<int32_t> ids = {3, 0, 4, -1, 9, 1, 2};
  onEachShape(
      "rows_of",
      [&](Bench &b) {
        return std::vector<uint64_t>{b.array("table", table),
                                     b.array("ids", ids),
                                     b.array("y", Floats(42), false)};
      },
      [&](const Bench &b) {
        Floats y = b.read<float>("y");
        for (size_t i = 0; i < 42; ++i) {
          auto row = size_t(std::clamp(ids[i / 6], 0, 4));
          CHECK(y[i] == table[row * 6 + 5 - (i % 6 + 4) % 6]);
        }
      });
}
