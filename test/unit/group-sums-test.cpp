//===- group-sums-test.cpp - sums of groups of channels -------------------===//
//
// Sums over places keep groups and channels, which are adjacent; values of a
// group meet all its channels. Oracle: plain loops.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/codegen-kernels.h"

using weft::test::Buffer;
using weft::test::function;
using weft::test::Kernels;
using weft::test::testTarget;

namespace {

constexpr int kBatch = 2, kPlaces = 300;

std::string tensor(std::initializer_list<int> shape) {
  std::string text = "tensor<";
  for (int size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

/// x - mean of each group, and the sums over places of its products with y.
std::string kernelOf(int groups, int channels) {
  std::string flat = tensor({kBatch, kPlaces, groups * channels}),
              apart = tensor({kBatch, kPlaces, groups, channels}),
              mean = tensor({kBatch, groups}),
              sums = tensor({kBatch, groups, channels});
  std::string toApart = " : " + flat + " -> " + apart + "\n";
  return function("general",
                  "(%x: " + flat + ", %y: " + flat + ", %m: " + mean +
                      ") -> (" + flat + ", " + sums + ")",
                  "%0 = weft.reshape %x" + toApart +
                      "%1 = weft.broadcast %m dims [0, 2] : " + mean + " -> " +
                      apart + "\n%2 = weft.sub %0, %1 : " + apart +
                      "\n%3 = weft.reshape %y" + toApart +
                      "%4 = weft.mul %2, %3 : " + apart +
                      "\n%5 = weft.reduce sum %4 dims [1] : " + apart + " -> " +
                      sums + "\n%6 = weft.reshape %2 : " + apart + " -> " +
                      flat + "\n%7 = weft.neg %6 : " + flat +
                      "\nreturn %7, %5 : " + flat + ", " + sums + "\n");
}

} // namespace

TEST_CASE("groups of channels: sums over places, and values of a group") {
  for (const char *target : {testTarget(), "cpu:generic"})
    for (auto [groups, channels] : {std::pair(8, 4),
                                    {8, 16},
                                    {4, 32},
                                    {3, 5},
                                    {8, 8},
                                    {2, 300},
                                    {7, 1}}) {
      INFO(target << " " << groups << " groups of " << channels);
      Kernels kernels(kernelOf(groups, channels), target);
      int width = groups * channels;
      Buffer<float> x(kBatch * kPlaces * width), y(kBatch * kPlaces * width),
          mean(kBatch * groups), apart(kBatch * kPlaces * width),
          sums(kBatch * width);
      kernels.run("k", {x.data, y.data, mean.data, apart.data, sums.data});
      for (int n = 0; n < kBatch; ++n)
        for (int c = 0; c < width; ++c) {
          double sum = 0;
          for (int p = 0; p < kPlaces; ++p) {
            int at = (n * kPlaces + p) * width + c;
            float difference = x[at] - mean[n * groups + c / channels];
            REQUIRE(apart[at] == -difference);
            sum += double(difference) * y[at];
          }
          CHECK(std::abs(sums[n * width + c] - sum) < 1e-3);
        }
    }
}

TEST_CASE("the only element of a line becomes a scalar") {
  for (const char *target : {testTarget(), "cpu:generic"}) {
    Kernels kernels(
        function("elementwise", "(%x: tensor<1xf32>) -> tensor<f32>",
                 "%0 = weft.neg %x : tensor<1xf32>\n%1 = weft.reshape %0 : "
                 "tensor<1xf32> -> tensor<f32>\nreturn %1 : tensor<f32>\n"),
        target);
    Buffer<float> x(1), y(1);
    kernels.run("k", {x.data, y.data});
    CHECK(y[0] == -x[0]);
  }
}
