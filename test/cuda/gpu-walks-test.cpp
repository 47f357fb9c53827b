//===- gpu-walks-test.cpp - elements, rows and columns on GPUs ------------===//
//
// Accesses of 16 bytes, rows in registers of a warp or a block, and columns
// that threads share, on small kernels (WalkRuns.h).
//
//===----------------------------------------------------------------------===//

#include "weft/test/cuda/WalkRuns.h"

#include "catch2/catch.hpp"

using namespace weft;

/// The PTX of a kernel.
static std::string ptxOf(const std::string &text) {
  std::string found;
  runKernel(text, true, [&](std::string &ptx) { found = ptx; });
  return found;
}

TEST_CASE("a thread takes 16 bytes of elements") {
  auto sum = [](const std::string &type, const std::string &walk) {
    return kernelOf("%x: " + type + ", %y: " + type, type, walk,
                    "    %0 = weft.add %x, %y : " + type +
                        "\n    %1 = weft.relu %0 : " + type +
                        "\n    nest.store %1 : " + type + "\n");
  };
  std::string four = sum("tensor<30x36xf32>", "elements<flat, side = 4>");
  checkExact(four);
  CHECK(countOf(ptxOf(four), "ld.global.nc.v4.b32") == 2);
  CHECK(countOf(ptxOf(four), "st.global.v4.b32") == 1);
  std::string eight = sum("tensor<30x36xbf16>", "elements<flat, side = 8>");
  checkExact(eight);
  CHECK(countOf(ptxOf(eight), "ld.global.nc.v4.b32") == 2);
  CHECK(countOf(ptxOf(eight), "st.global.v4.b32") == 1);
  checkExact(sum("tensor<30x35xf64>", "elements<flat, side = 2>"));
}

TEST_CASE("neighbours in rows, and operands read at other positions") {
  std::string bias = kernelOf(
      "%x: tensor<30x36xf32>, %b: tensor<36xf32>, %s: tensor<30xf32>",
      "tensor<30x36xbf16>", "elements<dimensions, side = 4>",
      "    %0 = weft.broadcast %b dims [1] : tensor<36xf32> -> "
      "tensor<30x36xf32>\n"
      "    %1 = weft.broadcast %s dims [0] : tensor<30xf32> -> "
      "tensor<30x36xf32>\n"
      "    %2 = weft.add %x, %0 : tensor<30x36xf32>\n"
      "    %3 = weft.add %2, %1 : tensor<30x36xf32>\n"
      "    %4 = weft.convert %3 : tensor<30x36xf32> -> tensor<30x36xbf16>\n"
      "    nest.store %4 : tensor<30x36xbf16>\n");
  checkExact(bias);
  CHECK(countOf(ptxOf(bias), "ld.global.nc.v4.b32") == 2);
  // Reversed elements are not contiguous.
  checkExact(kernelOf("%x: tensor<6x8xf32>", "tensor<6x8xf32>",
                      "elements<dimensions, side = 4>",
                      "    %0 = weft.reverse %x dims [1] : tensor<6x8xf32>\n"
                      "    nest.store %0 : tensor<6x8xf32>\n"));
}

/// A kernel of each row minus its sum.
static std::string rows(const std::string &count, const std::string &columns,
                        const std::string &walk) {
  std::string type = "tensor<" + count + "x" + columns + "xf32>",
              row = "tensor<" + count + "xf32>";
  return kernelOf("%x: " + type, type, walk,
                  "    %0 = weft.reduce sum %x dims [1] : " + type + " -> " +
                      row + "\n    %1 = weft.broadcast %0 dims [0] : " + row +
                      " -> " + type + "\n    %2 = weft.sub %x, %1 : " + type +
                      "\n    nest.store %2 : " + type + "\n");
}

TEST_CASE("rows are read once and kept in registers") {
  checkExact(rows("37", "50", "rows<dims = 1, lanes = 32>"));
  checkExact(rows("37", "50", "rows<dims = 1, lanes = 32, held = 2>"));
  checkExact(
      rows("37", "50", "rows<dims = 1, lanes = 32, held = 2, side = 2>"));
  std::string wide =
      rows("5", "300", "rows<dims = 1, lanes = 32, held = 12, side = 4>");
  checkExact(wide);
  CHECK(countOf(ptxOf(wide), "ld.global.nc.v4.b32") == 3);
  CHECK(countOf(ptxOf(wide), "st.global.v4.b32") == 3);
}

TEST_CASE("a scalar sum chooses what is read behind it") {
  for (const char *terms : {"1", "5", "300"}) {
    std::string type = "tensor<" + std::string(terms) + "xf32>";
    checkExact(kernelOf(
        "%x: " + type, "tensor<f32>", "sums<block = 0>",
        "    %0 = weft.dot %x, %x contract [0] x [0] : " + type + ", " + type +
            " -> tensor<f32>\n"
            "    %1 = weft.convert %0 : tensor<f32> -> tensor<i32>\n"
            "    %2 = weft.gather %x at %1 {collapsed_slice_dims = array<i64: "
            "0>, index_vector_dim = 0 : i64, slice_sizes = array<i64: 1>, "
            "start_index_map = array<i64: 0>, zero_outside} : " +
            type +
            ", tensor<i32> -> tensor<f32>\n"
            "    nest.store %2 : tensor<f32>\n"));
  }
}

TEST_CASE("rows of one column beside long ones leave those side by side") {
  std::string text = kernelOf(
      "%x: tensor<37x264xbf16>", "tensor<37x264xbf16>",
      "rows<dims = 1, lanes = 32, held = 16, side = 8>",
      "    %0 = weft.reduce sum %x dims [1] : tensor<37x264xbf16> -> "
      "tensor<37xf32>\n"
      "    %1 = weft.reshape %0 : tensor<37xf32> -> tensor<37x1xf32>\n"
      "    %2 = weft.relu %1 : tensor<37x1xf32>\n"
      "    %3 = weft.reduce sum %2 dims [1] : tensor<37x1xf32> -> "
      "tensor<37xf32>\n"
      "    %4 = weft.broadcast %3 dims [0] : tensor<37xf32> -> "
      "tensor<37x264xf32>\n"
      "    %5 = weft.convert %4 : tensor<37x264xf32> -> tensor<37x264xbf16>\n"
      "    %6 = weft.sub %x, %5 : tensor<37x264xbf16>\n"
      "    nest.store %6 : tensor<37x264xbf16>\n");
  checkExact(text);
  CHECK(countOf(ptxOf(text), "ld.global.nc.v4.b32") == 2);
  CHECK(countOf(ptxOf(text), "st.global.v4.b32") == 2);
}

TEST_CASE("lanes read several columns of a long row at once") {
  for (const char *columns : {"20", "256", "333"})
    checkExact(rows("9", columns, "rows<dims = 1, lanes = 32, together = 4>"));
  std::string text =
      rows("3", "4548", "rows<dims = 1, lanes = 256, together = 8>");
  checkExact(text);
  // Eight in each of two loops; the two that are left are read once.
  CHECK(countOf(ptxOf(text), "ld.global.nc.b32") == 18);
}

TEST_CASE("a block takes a row") {
  checkExact(rows("5", "700", "rows<dims = 1, lanes = 256>"));
  checkExact(rows("5", "700", "rows<dims = 1, lanes = 256, held = 3>"));
  std::string text =
      rows("5", "2052", "rows<dims = 1, lanes = 256, held = 12, side = 4>");
  checkExact(text);
  CHECK(checkNeeded(text, "bar.sync") + checkNeeded(text, "barrier.sync") +
            checkNeeded(text, "barrier.cta.sync") ==
        2);
}

/// A kernel of the sums of columns, with an epilogue.
static std::string columns(const std::string &count, const std::string &walk) {
  std::string type = "tensor<" + count + "x75xbf16>";
  return kernelOf("%x: " + type + ", %y: tensor<75xf32>", "tensor<75xf32>",
                  walk,
                  "    %0 = weft.reduce sum %x dims [0] : " + type +
                      " -> tensor<75xf32>\n    %1 = weft.add %0, %y : "
                      "tensor<75xf32>\n    nest.store %1 : tensor<75xf32>\n");
}

TEST_CASE("a thread takes adjacent columns and several rows at once") {
  auto sums = [](const std::string &shape, const std::string &walk) {
    std::string type = "tensor<" + shape + "x40xbf16>";
    return kernelOf(
        "%x: " + type + ", %y: tensor<2x40xf32>", "tensor<2x40xf32>", walk,
        "    %0 = weft.reduce sum %x dims [1] : " + type +
            " -> tensor<2x40xf32>\n    %1 = weft.add %0, %y : "
            "tensor<2x40xf32>\n    nest.store %1 : tensor<2x40xf32>\n");
  };
  for (const char *walk :
       {"sums<block = 0, side = 8>", "sums<block = 0, lanes = 8, side = 4>",
        "sums<block = 8, lanes = 32, side = 2, together = 4>",
        "sums<block = 0, lanes = 16, side = 8, together = 8>"})
    for (const char *shape : {"2x3", "2x61", "2x256"})
      checkExact(sums(shape, walk));
  std::string ptx = ptxOf(
      sums("2x256", "sums<block = 0, lanes = 8, side = 8, together = 8>"));
  CHECK(countOf(ptx, "ld.global.nc.v4.b32") == 8 + 2);
  CHECK(countOf(ptx, "st.global.v4.b32") == 2);
}

TEST_CASE("threads share columns") {
  for (const char *walk :
       {"sums<block = 0>", "sums<block = 0, lanes = 8>",
        "sums<block = 5, lanes = 8>", "sums<block = 3, lanes = 32>"})
    for (const char *count : {"3", "61", "128"})
      checkExact(columns(count, walk));
  std::string text = columns("61", "sums<block = 4, lanes = 8>");
  CHECK(checkNeeded(text, "bar.sync") + checkNeeded(text, "barrier.sync") +
            checkNeeded(text, "barrier.cta.sync") ==
        5);
}
