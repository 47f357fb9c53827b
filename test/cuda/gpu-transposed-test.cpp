//===- gpu-transposed-test.cpp - operands that are read transposed --------===//
//
// Tiles in shared memory of transposed operands, on small kernels (WalkRuns.h):
// partial tiles, every width of an element, several operands.
//
//===----------------------------------------------------------------------===//

#include "weft/test/cuda/WalkRuns.h"

#include "catch2/catch.hpp"

using namespace weft;

static std::string tensorOf(int64_t rows, int64_t columns,
                            const std::string &element) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "x" + element + ">";
}

/// A kernel that transposes a matrix of that many rows.
static std::string turned(int64_t rows, int64_t columns,
                          const std::string &element) {
  std::string from = tensorOf(columns, rows, element),
              to = tensorOf(rows, columns, element);
  return kernelOf("%x: " + from, to, "transposed<along = 0>",
                  "    %0 = weft.transpose %x [1, 0] : " + from + " -> " + to +
                      "\n    nest.store %0 : " + to + "\n");
}

TEST_CASE("a matrix is turned where tiles reach beyond it") {
  for (auto [rows, columns] :
       {std::pair(64, 96), std::pair(33, 65), std::pair(31, 32),
        std::pair(32, 31), std::pair(2, 40), std::pair(40, 2)})
    checkExact(turned(rows, columns, "f32"));
}

TEST_CASE("elements of every width are turned") {
  for (const char *element :
       {"i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "f16",
        "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2", "complex<f32>",
        "complex<f64>"})
    checkExact(turned(50, 70, element));
}

/// A kernel of x transposed, plus y, times a value computed from another
/// transposed operand.
static std::string several() {
  return kernelOf(
      "%x: tensor<3x45x37xf32>, %y: tensor<37x3x45xf32>, "
      "%z: tensor<45x37x3xbf16>, %b: tensor<45xf32>",
      "tensor<3x37x45xbf16>", "transposed<along = 1>",
      "    %0 = weft.transpose %x [0, 2, 1] : tensor<3x45x37xf32> -> "
      "tensor<3x37x45xf32>\n"
      "    %1 = weft.transpose %y [1, 0, 2] : tensor<37x3x45xf32> -> "
      "tensor<3x37x45xf32>\n"
      "    %2 = weft.convert %x : tensor<3x45x37xf32> -> tensor<3x45x37xf64>\n"
      "    %3 = weft.neg %2 : tensor<3x45x37xf64>\n"
      "    %4 = weft.reverse %3 dims [2] : tensor<3x45x37xf64>\n"
      "    %5 = weft.transpose %4 [0, 2, 1] : tensor<3x45x37xf64> -> "
      "tensor<3x37x45xf64>\n"
      "    %6 = weft.convert %5 : tensor<3x37x45xf64> -> tensor<3x37x45xf32>\n"
      "    %7 = weft.add %0, %1 : tensor<3x37x45xf32>\n"
      "    %8 = weft.mul %7, %6 : tensor<3x37x45xf32>\n"
      "    %9 = weft.transpose %z [2, 1, 0] : tensor<45x37x3xbf16> -> "
      "tensor<3x37x45xbf16>\n"
      "    %10 = weft.convert %9 : tensor<3x37x45xbf16> -> "
      "tensor<3x37x45xf32>\n"
      "    %11 = weft.broadcast %b dims [2] : tensor<45xf32> -> "
      "tensor<3x37x45xf32>\n"
      "    %12 = weft.add %8, %10 : tensor<3x37x45xf32>\n"
      "    %13 = weft.add %12, %11 : tensor<3x37x45xf32>\n"
      "    %14 = weft.convert %13 : tensor<3x37x45xf32> -> "
      "tensor<3x37x45xbf16>\n"
      "    nest.store %14 : tensor<3x37x45xbf16>\n");
}

TEST_CASE("several operands are transposed, others lie as the result does") {
  checkExact(several());
}

TEST_CASE("no barrier around tiles may be missing") {
  for (const std::string &text : {turned(70, 100, "f32"), several()})
    CHECK(checkNeeded(text, "bar.sync") + checkNeeded(text, "barrier.sync") +
              checkNeeded(text, "barrier.cta.sync") >=
          2);
}
