//===- known-failures-collectives-test.cpp - needless communication -------===//
//
// Programs for which other partitioners replicate, gather or exchange more than
// they have to. Bytes are those that one device sends, read off the plan.
// docs/known-failures.md lists all reports.
//
//===----------------------------------------------------------------------===//

#include "weft/layout/Layout.h"
#include "weft/test/unit/ShardedWitness.h"

#include "catch2/catch.hpp"

using namespace weft;

/// Reshards one value and returns the communication.
static Sent move(const std::string &mesh, const std::string &shape,
                 const std::string &from, const std::string &to) {
  std::string type = "tensor<" + shape + "xf32>";
  return runWitness(mesh, "(%x: " + type + " @" + from + ") -> (" + type +
                              " @" + to + ") {\nreturn %x : " + type + "\n}");
}

TEST_CASE("the reshard that XLA replicates for sends 1,792 bytes") {
  // openxla/xla#15207, jax-ml/jax#21562: XLA sends 14,336
  Sent sent = move("x=4,y=2", "16x16x16", "[y,-,x]", "[-,(x,y),-]");
  CHECK(sent.collectives() == 1);
  CHECK(sent.bytes() == 1792);
}

TEST_CASE("reshards over two axes send only elements that receivers lack") {
  // pytorch#132751, PR131210
  struct {
    const char *from, *to;
  } pairs[] = {{"[(a,b),-]", "[a,b]"},     {"[a,b]", "[(a,b),-]"},
               {"[a,-]", "[-,a]"},         {"[(a,b),-]", "[a,-]"},
               {"[a,b]", "[b,a]"},         {"[(a,b),-]", "[-,(a,b)]"},
               {"[(a,b),-]", "[(b,a),-]"}, {"[a,-]", "[a,b]"}};
  Mesh mesh;
  REQUIRE(parseMesh("a=2,b=4", mesh) == "");
  for (auto [from, to] : pairs) {
    Layout source, target;
    REQUIRE(parseCommandText(from, mesh, source) == "");
    REQUIRE(parseCommandText(to, mesh, target) == "");
    INFO(from << " to " << to);
    CHECK(move("a=2,b=4", "16x24", from, to).bytes() ==
          4 * receiveLowerBound(mesh, source, target,
                                std::vector<int64_t>{16, 24}));
  }
}

TEST_CASE("axes in another order are one permutation") {
  // upstream's probe [[0,1]] -> [[1,0]], where mlir-opt crashes
  Sent sent = move("a=2,b=3", "12x5", "[(a,b),-]", "[(b,a),-]");
  CHECK(sent.count("permute") == 1);
  CHECK(sent.collectives() == 1);
}

TEST_CASE("a reshape that splits a sharded dimension moves nothing") {
  // openxla/xla#13306, PR19166: microbatches of a batch over 8 devices
  Sent sent = runWitness(
      "d=8", R"((%x: tensor<16x6xf32> @[d,-]) -> (tensor<4x4x6xf32>) {
  %r = weft.reshape %x : tensor<16x6xf32> -> tensor<4x4x6xf32>
  return %r : tensor<4x4x6xf32>
})");
  CHECK(sent.collectives() == 0);
}

TEST_CASE("a reshape that merges dimensions with sub-axes moves nothing") {
  Sent sent = runWitness(
      "d=8",
      R"((%x: tensor<4x4x6xf32> @[d:(1)4,d:(4)2,-]) -> (tensor<16x6xf32> @[d,-]) {
  %r = weft.reshape %x : tensor<4x4x6xf32> -> tensor<16x6xf32>
  return %r : tensor<16x6xf32>
})");
  CHECK(sent.collectives() == 0);
}

TEST_CASE("a shuffle of each row stays in its shard") {
  // jax-ml/jax#20381: a gather with batch dimensions
  for (const char *mesh : {"d=2", "d=3", "d=4"})
    CHECK(
        runWitness(
            mesh,
            R"((%x: tensor<6x5xf32> @[d,-], %i: tensor<6x5xi32> @[d,-]) -> (tensor<6x5xf32> @[d,-]) {
  %r = weft.gather %x at %i {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 1>, start_index_map = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 1>} : tensor<6x5xf32>, tensor<6x5xi32> -> tensor<6x5xf32>
  return %r : tensor<6x5xf32>
})")
            .collectives() == 0);
}

TEST_CASE("an op that needs a dimension whole keeps its batch sharded") {
  // jax-ml/jax#20683: vmapped fft and cholesky gather the batch
  for (const char *mesh : {"d=2", "d=3", "d=4"})
    CHECK(
        runWitness(
            mesh,
            R"((%x: tensor<6x5xf32> @[d,-]) -> (tensor<6x5xf32> @[d,-], tensor<6x2xf32> @[d,-], tensor<6x5xf32> @[d,-]) {
  %0 = weft.sort %x dim 1 keys 1 : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %1, %2 = weft.top_k %x dim 1 : tensor<6x5xf32> -> tensor<6x2xf32>, tensor<6x2xi32>
  %3 = weft.cumulative sum %x dim 1 : tensor<6x5xf32>
  return %0, %1, %3 : tensor<6x5xf32>, tensor<6x2xf32>, tensor<6x5xf32>
})")
            .collectives() == 0);
}

TEST_CASE("factors of a batch of matrices stay in their shards") {
  // jax-ml/jax#20683
  for (const char *mesh : {"d=2", "d=4"})
    CHECK(
        runWitness(
            mesh,
            R"((%x: tensor<6x3x3xf32> @[d,-,-]) -> (tensor<6x3x3xf32> @[d,-,-], tensor<6x3x3xf32> @[d,-,-]) {
  %i = weft.constant dense<[[60.0, 0.0, 0.0], [0.0, 60.0, 0.0], [0.0, 0.0, 60.0]]> : tensor<3x3xf32>
  %b = weft.broadcast %i dims [1, 2] : tensor<3x3xf32> -> tensor<6x3x3xf32>
  %s = weft.dot %x, %x batch [0] x [0] contract [2] x [2] : tensor<6x3x3xf32>, tensor<6x3x3xf32> -> tensor<6x3x3xf32>
  %a = weft.add %s, %b : tensor<6x3x3xf32>
  %l = weft.cholesky %a : tensor<6x3x3xf32>
  %y = weft.triangular_solve %l, %x {lower} : tensor<6x3x3xf32>, tensor<6x3x3xf32> -> tensor<6x3x3xf32>
  return %l, %y : tensor<6x3x3xf32>, tensor<6x3x3xf32>
})")
            .collectives() == 0);
}

TEST_CASE("a program whose layouts agree communicates nothing") {
  // openxla/xla#15048
  Sent sent = runWitness(
      "a=2,b=4", R"((%x: tensor<16x12xf32> @[a,-], %w: tensor<12x8xf32> @[-,b],
      %c: tensor<8xf32> @[b]) -> (tensor<16x8xf32> @[a,b], tensor<8x16xf32> @[b,a]) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x12xf32>, tensor<12x8xf32> -> tensor<16x8xf32>
  %1 = weft.broadcast %c dims [1] : tensor<8xf32> -> tensor<16x8xf32>
  %2 = weft.add %0, %1 : tensor<16x8xf32>
  %3 = weft.relu %2 : tensor<16x8xf32>
  %4 = weft.transpose %3 [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  return %3, %4 : tensor<16x8xf32>, tensor<8x16xf32>
})");
  CHECK(sent.collectives() == 0);
}

static Sent ambiguousDot(int64_t rows, int64_t columns) {
  std::string m = std::to_string(rows), n = std::to_string(columns);
  return runWitness(
      "d=4", "(%x: tensor<" + m + "x8xf32> @[d,-], %w: tensor<8x" + n +
                 "xf32> @[-,d]) -> (tensor<" + m + "x" + n +
                 "xf32>) {\n%r = weft.dot %x, %w contract [1] x "
                 "[0] : tensor<" +
                 m + "x8xf32>, tensor<8x" + n + "xf32> -> tensor<" + m + "x" +
                 n + "xf32>\nreturn %r : tensor<" + m + "x" + n + "xf32>\n}");
}

TEST_CASE("an ambiguous contraction moves its smaller operand") {
  // jax-ml/jax#31800: explicit sharding refuses it
  CHECK(ambiguousDot(4, 64).bytes() == 3 * 4 * 8 * 4 / 4);
  CHECK(ambiguousDot(64, 4).bytes() == 3 * 4 * 8 * 4 / 4);
}

TEST_CASE("a partial sum on one axis becomes a shard beside another axis") {
  // Oneflow-Inc/oneflow#6292: P to S is not supported in two dimensions
  Sent sent = runWitness(
      "a=2,b=4",
      R"((%x: tensor<8x16xf32> @[a,b], %w: tensor<16x12xf32> @[b,-]) -> (tensor<8x12xf32> @[a,b]) {
  %r = weft.dot %x, %w contract [1] x [0] : tensor<8x16xf32>, tensor<16x12xf32> -> tensor<8x12xf32>
  return %r : tensor<8x12xf32>
})");
  CHECK(sent.count("reduce_scatter") == 1);
  CHECK(sent.collectives() == 1);
  CHECK(sent.bytes() == 3 * (8 / 2 * 12 * 4) / 4);
}
