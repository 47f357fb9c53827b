//===- gpu-updates-test.cpp - scatters whose parts warps own, on GPUs -----===//
//
// The machine must find nothing, and the numbers must be the interpreter's,
// also where many updates of one element are rounded one after the other.
//
//===----------------------------------------------------------------------===//

#include "weft/test/cuda/WalkRuns.h"

#include "catch2/catch.hpp"

using namespace weft;

namespace {
/// A scatter of types and dimension numbers, into an argument or ones.
struct Scatter {
  std::string result, indices, updates, numbers, kind = "sum";
  bool intoOnes = false;

  std::string text(const std::string &walk) const {
    std::string input = "%x", body;
    if (intoOnes) {
      input = "%ones";
      body = "    %ones = weft.constant dense<1.0> : " + result + "\n";
    }
    body += "    %0 = weft.scatter " + kind + " " + input + " at %i with %u {" +
            numbers + "} : " + result + ", " + indices + ", " + updates +
            " -> " + result + "\n    nest.store %0 : " + result + "\n";
    return kernelOf("%x: " + result + ", %i: " + indices + ", %u: " + updates,
                    result, "updates<" + walk + ">", body);
  }
};
} // namespace

static const std::string kRows =
    "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
    "scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64";

/// Rows of a table, such as an embedding's gradient.
static Scatter rowsOf(const std::string &type, bool intoOnes) {
  return {"tensor<7x24x" + type + ">",
          "tensor<150x1xi32>",
          "tensor<150x24x" + type + ">",
          kRows,
          "sum",
          intoOnes};
}

TEST_CASE("warps own rows and columns of a table") {
  for (const char *walk :
       {"parts = 1, width = 24, side = 4", "parts = 4, width = 24, side = 4",
        "parts = 7, width = 16, side = 8", "parts = 3, width = 20, side = 4",
        "parts = 3, width = 5", "parts = 4, width = 24, side = 4, together = 4",
        "parts = 2, width = 24, together = 5"}) {
    checkExact(rowsOf("f32", true).text(walk));
    checkExact(rowsOf("bf16", false).text(walk));
  }
}

TEST_CASE("updates of an element are added in order") {
  // All indices are 0: 150 updates of each element, each sum rounded.
  for (const char *type : {"f32", "bf16", "f64", "complex<f32>"}) {
    std::string walk = std::string("parts = 2, width = 24, together = 2") +
                       (type[0] == 'c' ? "" : ", side = 2");
    Run run = runKernel(rowsOf(type, type[0] != 'c').text(walk),
                        /*areWhole=*/false);
    REQUIRE(run.problem == "");
    CHECK(differences(run.found, run.expected) == 0);
  }
}

TEST_CASE("rows with updates of their own, and one dimension of results") {
  std::string batch = "inserted_window_dims = array<i64: 1>, "
                      "input_batching_dims = array<i64: 0>, "
                      "scatter_indices_batching_dims = array<i64: 0>, "
                      "scatter_dims_to_operand_dims = array<i64: 1>, "
                      "index_vector_dim = 2 : i64";
  for (const char *kind : {"sum", "set", "max"})
    for (const char *walk : {"parts = 1, width = 1", "parts = 3, width = 1"})
      checkExact(Scatter{"tensor<5x41xf32>", "tensor<5x40x1xi32>",
                         "tensor<5x40xf32>", batch, kind, true}
                     .text(walk));
  // A histogram.
  std::string one = "inserted_window_dims = array<i64: 0>, "
                    "scatter_dims_to_operand_dims = array<i64: 0>, "
                    "index_vector_dim = 1 : i64";
  for (const char *walk :
       {"parts = 1, width = 1", "parts = 5, width = 1, together = 4"})
    checkExact(Scatter{"tensor<9xi32>", "tensor<300x1xi32>", "tensor<300xi32>",
                       one, "sum", false}
                   .text(walk));
}

TEST_CASE("blocks of a part of a dimension, before or after the batch") {
  // Each update is 2 x 3 elements anywhere in 6 x 5, of 4 channels.
  std::string block = "update_window_dims = array<i64: 0, 2, 3>, "
                      "scatter_dims_to_operand_dims = array<i64: 1, 0>, "
                      "index_vector_dim = 1 : i64";
  for (const char *kind : {"sum", "set"})
    for (const char *walk :
         {"parts = 1, width = 4, side = 4", "parts = 6, width = 4, side = 2"})
      checkExact(Scatter{"tensor<6x5x4xf32>", "tensor<20x2xi32>",
                         "tensor<2x20x3x4xf32>", block, kind, false}
                     .text(walk));
  // Whole columns: elements of a block are not side by side.
  std::string columns = "update_window_dims = array<i64: 0>, "
                        "inserted_window_dims = array<i64: 1>, "
                        "scatter_dims_to_operand_dims = array<i64: 1>, "
                        "index_vector_dim = 1 : i64";
  for (const char *walk : {"parts = 2, width = 32", "parts = 5, width = 7"})
    checkExact(Scatter{"tensor<40x5xf32>", "tensor<33x1xi64>",
                       "tensor<40x33xf32>", columns, "sum", true}
                   .text(walk));
}

TEST_CASE("a part needs the barrier after its copy") {
  // The machine orders accesses of a block, so that only the text shows it.
  std::string ptx;
  runKernel(rowsOf("f32", true).text("parts = 2, width = 24, side = 4"), true,
            [&](std::string &text) { ptx = text; });
  CHECK(countOf(ptx, "bar.warp.sync") == 1);
  CHECK(countOf(ptx, "vote.sync.ballot.b32") == 1);
  CHECK(countOf(ptx, "st.global.v4") == 2);
  CHECK(countOf(ptx, "ld.global.nc.v4") == 1);
  CHECK(countOf(ptx, "atom") == 0);
}
