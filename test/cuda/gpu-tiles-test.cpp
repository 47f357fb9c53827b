//===- gpu-tiles-test.cpp - tiles of sums on GPUs -------------------------===//
//
// Every unit, copy and orientation, partial tiles, and epilogues, on small
// kernels (WalkRuns.h).
//
//===----------------------------------------------------------------------===//

#include "weft/test/cuda/WalkRuns.h"

#include "catch2/catch.hpp"

using namespace weft;

namespace {
/// The product [rows, depth] x [depth, columns], either of them transposed in
/// memory.
std::string product(const std::string &walk, const std::string &type,
                    int64_t rows, int64_t columns, int64_t depth,
                    bool isLhsTurned, bool isRhsTurned) {
  auto tensor = [&](int64_t a, int64_t b, const std::string &of) {
    return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "x" + of +
           ">";
  };
  std::string lhs =
      isLhsTurned ? tensor(depth, rows, type) : tensor(rows, depth, type);
  std::string rhs =
      isRhsTurned ? tensor(columns, depth, type) : tensor(depth, columns, type);
  std::string result = tensor(rows, columns, "f32");
  return kernelOf("%x: " + lhs + ", %w: " + rhs, result, "tiles<" + walk + ">",
                  "    %0 = weft.dot %x, %w contract [" +
                      std::string(isLhsTurned ? "0" : "1") + "] x [" +
                      (isRhsTurned ? "1" : "0") + "] : " + lhs + ", " + rhs +
                      " -> " + result + "\n    nest.store %0 : " + result +
                      "\n");
}
} // namespace

TEST_CASE("every unit multiplies operands that lie either way") {
  struct Unit {
    std::string type, start, depth;
  };
  const Unit units[] = {{"bf16", "half", "32"},
                        {"f16", "half", "16"},
                        {"f32", "tf32", "16"},
                        {"f32", "fma", "8"}};
  for (const Unit &unit : units)
    for (bool isLhsTurned : {false, true})
      for (bool isRhsTurned : {false, true}) {
        std::string walk = unit.start + ", block[64, 32, " + unit.depth +
                           "], warp[16, 16], stages = 3, lhs = ";
        bool isFma = unit.start == "fma";
        walk += isLhsTurned ? "<rows, 16>"
                : isFma     ? "<depth, 4>"
                            : "<depth, 16>";
        walk += ", rhs = ";
        walk +=
            isRhsTurned ? isFma ? "<depth, 4>" : "<depth, 16>" : "<rows, 16>";
        // Tiles are partial on all sides.
        checkExact(
            product(walk, unit.type, 72, 40, 56, isLhsTurned, isRhsTurned));
      }
}

TEST_CASE("copies of any size, and elements one by one") {
  for (std::string staging :
       {"<depth, 0>, rhs = <rows, 0>", "<rows, 0>, rhs = <depth, 0>",
        "<depth, 4>, rhs = <depth, 4>", "<rows, 4>, rhs = <rows, 4>"})
    checkExact(product(
        "fma, block[32, 32, 8], warp[16, 8], stages = 2, lhs = " + staging,
        "f32", 37, 45, 21, false, false));
  for (std::string staging :
       {"<depth, 0>, rhs = <rows, 0>", "<rows, 0>, rhs = <depth, 0>",
        "<depth, 4>, rhs = <rows, 4>", "<depth, 8>, rhs = <rows, 8>"})
    checkExact(product(
        "half, block[64, 64, 16], warp[32, 16], stages = 4, lhs = " + staging,
        "bf16", 36, 44, 28, false, false));
  // Elements of bf16 are multiplied as tf32.
  std::string mixed =
      product("tf32, block[32, 32, 16], warp[16, 8], stages = 2, lhs = <depth, "
              "0>, rhs = <rows, 0>",
              "bf16", 30, 20, 40, false, false);
  checkExact(mixed);
}

TEST_CASE("all sizes of blocks and warps") {
  const char *sizes[] = {
      "block[128, 128, 8], warp[64, 32]", "block[128, 64, 8], warp[32, 32]",
      "block[64, 64, 8], warp[32, 16]",   "block[32, 64, 8], warp[16, 16]",
      "block[16, 128, 8], warp[16, 16]",  "block[16, 64, 8], warp[16, 8]",
      "block[128, 16, 8], warp[16, 16]"};
  for (const char *size : sizes)
    checkExact(product("fma, " + std::string(size) +
                           ", stages = 2, lhs = <depth, 4>, rhs = <rows, 16>",
                       "f32", 140, 132, 20, false, false));
  checkExact(product("half, block[128, 128, 32], warp[64, 32], stages = 2, lhs "
                     "= <depth, 16>, rhs = <rows, 16>",
                     "bf16", 136, 136, 64, false, false));
}

TEST_CASE("tiles in which sums have one order give the same bits") {
  auto bits = [](const std::string &walk) {
    Run run = runKernel(product(walk, "f32", 72, 40, 56, false, false), false);
    CHECK(run.problem == "");
    return run.found;
  };
  Tensor first = bits("fma, block[64, 32, 8], warp[16, 16], stages = 3, lhs = "
                      "<depth, 4>, rhs = <rows, 16>");
  for (
      const char *walk :
      {"fma, block[32, 32, 16], warp[16, 8], stages = 2, lhs = <depth, 0>, rhs "
       "= <rows, 4>",
       "fma, block[64, 64, 32], warp[32, 16], stages = 2, lhs = <rows, 4>, rhs "
       "= <rows, 16>"})
    CHECK(differences(bits(walk), first) == 0);
  // Rounding elements first gives other results.
  CHECK(
      differences(bits("tf32, block[32, 32, 16], warp[16, 8], stages = 2, lhs "
                       "= <depth, 16>, rhs = <rows, 16>"),
                  first) > 1000);
}

TEST_CASE("batches, several dimensions, and ops on the sums") {
  // The product [b, h, q, d] x [b, h, d, k] of attention: rows and columns of
  // two tensors whose heads are in the middle.
  checkExact(kernelOf(
      "%q: tensor<2x20x3x16xbf16>, %k: tensor<2x24x3x16xbf16>, %m: "
      "tensor<20x24xf32>",
      "tensor<2x3x20x24xbf16>",
      "tiles<half, block[32, 32, 16], warp[16, 8], stages = 2, lhs = <depth, "
      "16>, rhs = <depth, 16>>",
      "    %0 = weft.dot %q, %k batch [0, 2] x [0, 2] contract [3] x [3] : "
      "tensor<2x20x3x16xbf16>, tensor<2x24x3x16xbf16> -> "
      "tensor<2x3x20x24xf32>\n"
      "    %1 = weft.broadcast %m dims [2, 3] : tensor<20x24xf32> -> "
      "tensor<2x3x20x24xf32>\n"
      "    %2 = weft.add %0, %1 : tensor<2x3x20x24xf32>\n"
      "    %3 = weft.relu %2 : tensor<2x3x20x24xf32>\n"
      "    %4 = weft.convert %3 : tensor<2x3x20x24xf32> -> "
      "tensor<2x3x20x24xbf16>\n"
      "    nest.store %4 : tensor<2x3x20x24xbf16>\n"));
  // Two dimensions of rows, of columns and of the depth.
  checkExact(kernelOf(
      "%x: tensor<4x9x6x4xf32>, %w: tensor<6x3x4x8xf32>", "tensor<4x9x3x8xf32>",
      "tiles<fma, block[32, 32, 8], warp[16, 8], stages = 2, lhs = <depth, 4>, "
      "rhs = <rows, 16>>",
      "    %0 = weft.dot %x, %w contract [2, 3] x [0, 2] : "
      "tensor<4x9x6x4xf32>, tensor<6x3x4x8xf32> -> tensor<4x9x3x8xf32>\n"
      "    nest.store %0 : tensor<4x9x3x8xf32>\n"));
}

TEST_CASE("a convolution is a product of its windows") {
  for (std::string unit : {"fma, block[32, 32, 8]", "tf32, block[32, 32, 16]"})
    for (std::string kernel : {"<rows, 0>", "<rows, 16>", "<depth, 4>"})
      checkExact(kernelOf(
          "%x: tensor<2x9x8x5xf32>, %w: tensor<3x2x5x12xf32>",
          "tensor<2x5x8x12xf32>",
          "tiles<" + unit +
              ", warp[16, 8], stages = 2, lhs = <depth, 0>, rhs = " + kernel +
              ">",
          "    %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, "
          "2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, "
          "3, 1, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high "
          "= array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, "
          "window_dilation = array<i64: 1, 1>} : tensor<2x9x8x5xf32>, "
          "tensor<3x2x5x12xf32> -> tensor<2x5x8x12xf32>\n"
          "    nest.store %0 : tensor<2x5x8x12xf32>\n"));
}

/// A convolution of `channels` by windows of 3 x 2 with padding, strides and
/// dilation.
static std::string windows(const std::string &unit, const std::string &type,
                           const std::string &channels,
                           const std::string &sample) {
  std::string x = "tensor<2x9x8x" + channels + "x" + type + ">",
              w = "tensor<3x2x" + channels + "x12x" + type + ">";
  return kernelOf(
      "%x: " + x + ", %w: " + w, "tensor<2x5x8x12xf32>",
      "tiles<" + unit + ", warp[16, 8], stages = 3, lhs = " + sample +
          ", rhs = <rows, 8>>",
      "    %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, "
      "rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, "
      "2>, strides = array<i64: 2, 1>, low = array<i64: 1, 1>, high = "
      "array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = "
      "array<i64: 1, 2>} : " +
          x + ", " + w +
          " -> tensor<2x5x8x12xf32>\n    nest.store %0 : "
          "tensor<2x5x8x12xf32>\n");
}

TEST_CASE("windows are copied along their channels, and are 0 in padding") {
  checkExact(windows("fma, block[32, 32, 8]", "f32", "5", "<depth, 4>"));
  checkExact(windows("tf32, block[32, 32, 16]", "f32", "5", "<depth, 4>"));
  checkExact(windows("tf32, block[32, 32, 16]", "f32", "6", "<depth, 8>"));
  checkExact(windows("tf32, block[32, 32, 16]", "f32", "12", "<depth, 16>"));
  checkExact(windows("half, block[32, 32, 16]", "bf16", "6", "<depth, 4>"));
  checkExact(windows("half, block[32, 32, 32]", "f16", "24", "<depth, 16>"));
}

/// The gradient of a convolution's kernel of 3 x 3 x `channels` x 12, with
/// strides and padding: the input channels are the last of the rows.
static std::string kernelGradient(const std::string &unit,
                                  const std::string &type,
                                  const std::string &channels,
                                  const std::string &sample) {
  std::string x = "tensor<3x9x8x" + channels + "x" + type + ">",
              g = "tensor<3x5x8x16x" + type + ">",
              result = "tensor<3x3x" + channels + "x16xf32>";
  return kernelOf(
      "%x: " + x + ", %g: " + g, result,
      "tiles<" + unit + ", warp[16, 8], stages = 3, lhs = " + sample +
          ", rhs = <rows, 8>>",
      "    %0 = weft.convolution %x, %g {lhs_dims = array<i64: 3, 0, 1, 2>, "
      "rhs_dims = array<i64: 3, 0, 1, 2>, result_dims = array<i64: 2, 3, 0, "
      "1>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = "
      "array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = "
      "array<i64: 2, 1>} : " +
          x + ", " + g + " -> " + result + "\n    nest.store %0 : " + result +
          "\n");
}

TEST_CASE("the gradient of a kernel copies channels side by side") {
  checkExact(kernelGradient("fma, block[32, 32, 8]", "f32", "5", "<rows, 4>"));
  checkExact(
      kernelGradient("fma, block[32, 32, 8]", "f32", "12", "<rows, 16>"));
  checkExact(
      kernelGradient("tf32, block[32, 32, 16]", "f32", "6", "<rows, 8>"));
  checkExact(
      kernelGradient("half, block[32, 32, 16]", "bf16", "6", "<rows, 4>"));
  checkExact(
      kernelGradient("half, block[32, 32, 32]", "f16", "24", "<rows, 16>"));
}

/// A kernel whose first nest stores parts of sums, and whose second adds them
/// up and rectifies the result: `body` computes %0 of type `result`.
static std::string inParts(const std::string &arguments,
                           const std::string &result, const std::string &walk,
                           int64_t parts, const std::string &body) {
  std::string count = std::to_string(parts),
              divided = "tensor<" + count + "x" + result.substr(7),
              planned = std::to_string(parts * (1 << 16));
  return "func.func private @k(" + arguments + ") -> " + result +
         " attributes {nest.kernel = #nest.kernel<target = \"cuda:sm_80\", "
         "planned = " +
         planned + ">, weft.scratch = " + planned +
         ", weft.kernel = #weft.kernel<general>} {\n"
         "  %p = nest.loops #nest.tiles<" +
         walk + ", parts = " + count + "> to [#nest.place<planned 64>] {\n" +
         body + "    %1 = nest.parts %0 : " + result + " -> " + divided +
         "\n    nest.store %1 : " + divided + "\n  } : " + divided +
         "\n  %r = nest.loops #nest.sums<block = 0> to [#nest.place<result 0>] "
         "{\n    %2 = weft.reduce sum %p dims [0] : " +
         divided + " -> " + result + "\n    %3 = weft.relu %2 : " + result +
         "\n    nest.store %3 : " + result + "\n  } : " + result +
         "\n  return %r : " + result + "\n}\n";
}

/// The product of %x, whose rows lie along the depth, and %w.
static std::string gradient(const std::string &type, int64_t depth) {
  std::string d = std::to_string(depth);
  return "    %0 = weft.dot %x, %w contract [0] x [0] : tensor<" + d + "x36x" +
         type + ">, tensor<" + d + "x40x" + type + "> -> tensor<36x40xf32>\n";
}
static std::string gradientArguments(const std::string &type, int64_t depth) {
  std::string d = std::to_string(depth);
  return "%x: tensor<" + d + "x36x" + type + ">, %w: tensor<" + d + "x40x" +
         type + ">";
}

TEST_CASE("parts of the depth are added up") {
  // 100 is 13 steps of 8: 2 parts of 7 and 6; 5 of 3, the last of 1; 13 of 1,
  // fewer than there are stages.
  for (int64_t parts : {2, 5, 13})
    for (std::string staging : {"<rows, 16>", "<rows, 0>", "<depth, 4>"})
      checkExact(inParts(gradientArguments("f32", 100), "tensor<36x40xf32>",
                         "fma, block[32, 32, 8], warp[16, 8], stages = 4, lhs "
                         "= <rows, 16>, rhs = " +
                             staging,
                         parts, gradient("f32", 100)));
  checkExact(inParts(gradientArguments("bf16", 200), "tensor<36x40xf32>",
                     "half, block[64, 32, 32], warp[16, 16], stages = 3, lhs = "
                     "<rows, 8>, rhs = <rows, 16>",
                     4, gradient("bf16", 200)));
  // The gradient of a convolution's weights: windows over a batch of samples.
  checkExact(inParts(
      "%x: tensor<6x7x8x3xf32>, %g: tensor<6x7x8x12xf32>",
      "tensor<3x3x3x12xf32>",
      "fma, block[32, 32, 8], warp[16, 8], stages = 4, lhs = <depth, 4>, rhs = "
      "<rows, 16>",
      6,
      "    %0 = weft.convolution %x, %g {lhs_dims = array<i64: 3, 0, 1, 2>, "
      "rhs_dims = array<i64: 3, 0, 1, 2>, result_dims = array<i64: 2, 3, 0, "
      "1>, "
      "strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: "
      "1, "
      "1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, "
      "1>} : tensor<6x7x8x3xf32>, tensor<6x7x8x12xf32> -> "
      "tensor<3x3x3x12xf32>\n"));
}

// LLVM may write a loop's body more than once.
TEST_CASE("no barrier may be missing") {
  std::string text =
      product("half, block[32, 32, 16], warp[16, 8], stages = 3, lhs = <depth, "
              "16>, rhs = <rows, 16>",
              "bf16", 40, 72, 80, false, false);
  CHECK(checkNeeded(text, "bar.sync") + checkNeeded(text, "barrier.sync") +
            checkNeeded(text, "barrier.cta.sync") >=
        3);
  CHECK(checkNeeded(text, "bar.warp.sync") >= 1);
  CHECK(checkNeeded(text, "cp.async.wait_group") >= 2);
}
