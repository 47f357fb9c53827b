//===- known-failures-values-test.cpp - partial sums, random bits, types --===//
//
// Programs that other partitioners compute wrongly because a value is a partial
// sum, drawn at random, or of a rarer type. docs/known-failures.md lists all
// reports.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/EveryLayout.h"
#include "weft/test/unit/ShardedWitness.h"

#include "catch2/catch.hpp"

using namespace weft;

static const std::string kMeshes[] = {"d=2", "d=3", "d=5", "d=8"};

TEST_CASE("a sum over devices is not moved behind an op that is not linear") {
  // openxla/xla#49143
  for (const std::string &mesh : kMeshes)
    runWitness(mesh, R"((%a: tensor<6x4xf32> @[-,-],
      %g: tensor<8x4xf32> @[d,-], %h: tensor<8x4xf32> @[d,-]) -> (tensor<6x4xf32> @[-,-]) {
  %i = weft.constant dense<[0, 5, 5, 1, 2, 0, 3, 5]> : tensor<8xi32>
  %0 = weft.scatter sum %a at %i with %g {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<6x4xf32>, tensor<8xi32>, tensor<8x4xf32> -> tensor<6x4xf32>
  %1 = weft.mul %0, %0 : tensor<6x4xf32>
  %2 = weft.scatter sum %1 at %i with %h {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<6x4xf32>, tensor<8xi32>, tensor<8x4xf32> -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
})");
}

TEST_CASE("gradients accumulated by scatters are summed once") {
  // openxla/xla#49143, without the product that is not linear
  Sent sent = runWitness("d=4", R"((%a: tensor<6x4xf32> @[-,-],
      %g: tensor<8x4xf32> @[d,-], %h: tensor<8x4xf32> @[d,-]) -> (tensor<6x4xf32> @[-,-]) {
  %i = weft.constant dense<[0, 5, 5, 1, 2, 0, 3, 5]> : tensor<8xi32>
  %0 = weft.scatter sum %a at %i with %g {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<6x4xf32>, tensor<8xi32>, tensor<8x4xf32> -> tensor<6x4xf32>
  %1 = weft.scatter sum %0 at %i with %h {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<6x4xf32>, tensor<8xi32>, tensor<8x4xf32> -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
})");
  // One sum of the result is 2 * 3/4 of its 96 bytes. Two moves of an operand
  // and a gather of the result are fewer.
  CHECK(sent.count("all_reduce") <= 1);
  CHECK(sent.bytes() <= 144);
}

TEST_CASE("partial sums over two axes become every layout of three") {
  // openxla/xla#40034, which needed 4,096 GPUs to be seen
  Mesh mesh;
  REQUIRE(parseMesh("a=2,b=2,c=2", mesh) == "");
  for (const Layout &layout : everyLayout(mesh, 2, /*subAxes=*/false)) {
    std::string result = toCommandText(mesh, layout);
    runWitness("a=2,b=2,c=2",
               "(%x: tensor<6x8xf32> @[c,(a,b)], %w: tensor<8x5xf32> "
               "@[(a,b),-]) -> (tensor<6x5xf32> @" +
                   result + R"() {
  %r = weft.dot %x, %w contract [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  return %r : tensor<6x5xf32>
})");
  }
}

static std::string randomBits(const std::string &layout) {
  return "(%k: tensor<2xui32> @[-]) -> (tensor<7x6xui32> @" + layout + R"() {
  %r = weft.rng_bits %k : tensor<2xui32> -> tensor<7x6xui32>
  return %r : tensor<7x6xui32>
})";
}

TEST_CASE("random bits do not depend on the number of shards") {
  // jax-ml/jax#40232
  for (const std::string &mesh : kMeshes)
    for (const char *layout : {"[d,-]", "[-,d]"})
      CHECK(runWitness(mesh, randomBits(layout)).collectives() == 0);
}

TEST_CASE("random bits are the same on every mesh") {
  // pytorch#168058
  for (const char *text : {"a=2,b=4", "a=4,b=2", "a=3,b=2"}) {
    Mesh mesh;
    REQUIRE(parseMesh(text, mesh) == "");
    for (const Layout &layout : everyLayout(mesh, 2))
      CHECK(runWitness(text, randomBits(toCommandText(mesh, layout)))
                .collectives() == 0);
  }
}

TEST_CASE("a scalar is added to a partial sum once") {
  // pytorch#163193, #147180
  for (const std::string &mesh : kMeshes)
    for (const char *op : {"add", "sub", "mul", "div", "max"})
      runWitness(
          mesh,
          R"((%x: tensor<4x8xf32> @[-,d], %w: tensor<8x3xf32> @[d,-]) -> (tensor<4x3xf32>) {
  %c = weft.constant dense<2.0> : tensor<f32>
  %b = weft.broadcast %c dims [] : tensor<f32> -> tensor<4x3xf32>
  %y = weft.dot %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %r = weft.)" +
              std::string(op) +
              R"( %y, %b : tensor<4x3xf32>
  return %r : tensor<4x3xf32>
})");
}

TEST_CASE("one scalar serves partial and whole values") {
  // pytorch#153603: a cached scalar keeps the placement of its first use
  for (const std::string &mesh : kMeshes)
    runWitness(mesh, R"((%x: tensor<4x8xf32> @[-,d], %w: tensor<8x3xf32> @[d,-],
      %v: tensor<4x3xf32> @[d,-], %c: tensor<f32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  %b = weft.broadcast %c dims [] : tensor<f32> -> tensor<4x3xf32>
  %y = weft.dot %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %0 = weft.add %y, %b : tensor<4x3xf32>
  %1 = weft.mul %v, %b : tensor<4x3xf32>
  %2 = weft.mul %y, %b : tensor<4x3xf32>
  return %0, %1, %2 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
})");
}

TEST_CASE("the norm of a partial sum squares the sum, not the summands") {
  // pytorch PR159856
  for (const std::string &mesh : kMeshes)
    runWitness(
        mesh,
        R"((%x: tensor<4x8xf32> @[-,d], %w: tensor<8x3xf32> @[d,-]) -> (tensor<f32>, tensor<f32>) {
  %y = weft.dot %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %s = weft.mul %y, %y : tensor<4x3xf32>
  %0 = weft.reduce sum %s dims [0, 1] : tensor<4x3xf32> -> tensor<f32>
  %1 = weft.sqrt %0 : tensor<f32>
  %m = weft.abs %y : tensor<4x3xf32>
  %2 = weft.reduce max %m dims [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %1, %2 : tensor<f32>, tensor<f32>
})");
}

TEST_CASE("partial sums pass a cast and are reduced together") {
  // pytorch#183363: a reduction in front of every cast
  Sent sent = runWitness(
      "d=4", R"((%x: tensor<4x8xf32> @[-,d], %w: tensor<8x3xf32> @[d,-],
      %u: tensor<8x3xf32> @[d,-]) -> (tensor<4x3xf64> @[-,-]) {
  %y = weft.dot %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %z = weft.dot %x, %u contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  %0 = weft.add %y, %z : tensor<4x3xf32>
  %1 = weft.convert %0 : tensor<4x3xf32> -> tensor<4x3xf64>
  return %1 : tensor<4x3xf64>
})");
  CHECK(sent.collectives() == 1);
  CHECK(sent.bytes() == 2 * 3 * 4 * 3 * 4 / 4); // f32: before the cast
}

TEST_CASE("a narrowing cast of a partial sum does not round the summands") {
  // pytorch#183363, where passing would change the value: 3 summands of 85
  runWitness("d=3", R"((%x: tensor<4x3xf32> @[-,d]) -> (tensor<4xbf16> @[-]) {
  %c = weft.constant dense<85.33> : tensor<f32>
  %b = weft.broadcast %c dims [] : tensor<f32> -> tensor<4x3xf32>
  %y = weft.mul %x, %b : tensor<4x3xf32>
  %0 = weft.reduce sum %y dims [1] : tensor<4x3xf32> -> tensor<4xf32>
  %1 = weft.convert %0 : tensor<4xf32> -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
})",
             1e-5);
}

TEST_CASE("dynamic updates work in float64") {
  // openxla/xla#24186
  for (const std::string &mesh : kMeshes)
    runWitness(
        mesh,
        R"((%x: tensor<9x4xf64> @[d,-], %u: tensor<3x4xf64> @[-,-], %s: tensor<i32>) -> (tensor<9x4xf64> @[d,-]) {
  %z = weft.constant dense<0> : tensor<i32>
  %r = weft.dynamic_update_slice %x, %u at (%s, %z) : (tensor<9x4xf64>, tensor<3x4xf64>, tensor<i32>, tensor<i32>) -> tensor<9x4xf64>
  return %r : tensor<9x4xf64>
})");
}
