//===- known-failures-shapes-test.cpp - sizes and ops that others refuse --===//
//
// Programs with sizes that the number of devices does not divide, with axes of
// one device, and with ops for which others have no rule.
// docs/known-failures.md lists all reports.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/Weft.h"
#include "weft/test/unit/ShardedWitness.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;

TEST_CASE("ten elements over four devices are all there") {
  // jax-ml/jax#27808, #15788; upstream drops two of them
  for (const char *mesh : {"d=4", "d=3", "d=16"})
    runWitness(
        mesh,
        R"((%x: tensor<10xf32> @[d]) -> (tensor<10xf32> @[d], tensor<10xf32> @[-], tensor<f32>) {
  %0 = weft.exp %x : tensor<10xf32>
  %1 = weft.neg %x : tensor<10xf32>
  %2 = weft.reduce sum %x dims [0] : tensor<10xf32> -> tensor<f32>
  return %0, %1, %2 : tensor<10xf32>, tensor<10xf32>, tensor<f32>
})");
}

TEST_CASE("a row of ops works in uneven shards of either dimension") {
  // pytorch#143372, #144109
  for (const char *mesh : {"d=2", "d=4", "d=8"})
    for (const std::string layout : {"[d,-]", "[-,d]"})
      runWitness(mesh,
                 "(%x: tensor<7x5xf32> @" + layout +
                     R"() -> (tensor<7x5xf32> @)" + layout +
                     R"(, tensor<5x5xf32>, tensor<2x5xf32>) {
  %0 = weft.reduce max %x dims [1] : tensor<7x5xf32> -> tensor<7xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<7xf32> -> tensor<7x5xf32>
  %2 = weft.sub %x, %1 : tensor<7x5xf32>
  %3 = weft.exp %2 : tensor<7x5xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<7x5xf32> -> tensor<7xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<7xf32> -> tensor<7x5xf32>
  %6 = weft.div %3, %5 : tensor<7x5xf32>
  %7 = weft.dot %x, %6 contract [0] x [0] : tensor<7x5xf32>, tensor<7x5xf32> -> tensor<5x5xf32>
  %8 = weft.slice %6 from [3, 0] to [7, 5] by [2, 1] : tensor<7x5xf32> -> tensor<2x5xf32>
  return %6, %7, %8 : tensor<7x5xf32>, tensor<5x5xf32>, tensor<2x5xf32>
})",
                 1e-5);
}

TEST_CASE("an axis of one device shards nothing and harms nothing") {
  // tenstorrent/tt-xla#3285
  Sent sent = runWitness(
      "a=1,b=4",
      R"((%x: tensor<8x4xf32> @[(a,b),-], %w: tensor<4x6xf32> @[-,a]) -> (tensor<8x6xf32> @[b,a]) {
  %r = weft.dot %x, %w contract [1] x [0] : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
})");
  CHECK(sent.collectives() == 0);
}

TEST_CASE("a reshape splits a dimension sharded by part of an axis") {
  // tenstorrent/tt-xla#3643
  for (const std::string result :
       {"[d:(2)4,-,-]", "[-,d,-]", "[d:(1)2,d:(2)4,-]", "[-,-,d:(1)2]"})
    runWitness(
        "d=8",
        R"((%x: tensor<24x5xf32> @[d:(2)4,d:(1)2]) -> (tensor<4x6x5xf32> @)" +
            result + R"() {
  %r = weft.reshape %x : tensor<24x5xf32> -> tensor<4x6x5xf32>
  return %r : tensor<4x6x5xf32>
})");
}

TEST_CASE("every op that computes has a sharding rule") {
  // pytorch#124990, #167917, #152249, #147724, #147578, torchtitan#3645
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<WeftDialect>();
  // The first of these moves data without computing; the second is expanded
  // before layouts are propagated.
  const llvm::StringRef without[] = {"weft.reshard", "weft.value_and_grad"};
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "weft" ||
        llvm::is_contained(without, name.getStringRef()))
      continue;
    INFO(name.getStringRef().str());
    // Loops and branches declare instead how values pass through their regions,
    // per-device code declares its layouts.
    CHECK((name.hasInterface<ShardingRuleOpInterface>() ||
           name.hasInterface<FixedLayoutsOpInterface>() ||
           name.hasInterface<RegionBranchOpInterface>() ||
           name.hasTrait<OpTrait::IsTerminator>()));
  }
}

static std::string raggedDot(const std::string &tokens,
                             const std::string &experts) {
  return "(%x: tensor<10x4xf32> @" + tokens + ", %w: tensor<3x4x5xf32> @" +
         experts + R"(, %g: tensor<10xi32>) -> (tensor<10x5xf32>) {
  %0 = weft.gather %w at %g {offset_dims = array<i64: 1, 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4, 5>} : tensor<3x4x5xf32>, tensor<10xi32> -> tensor<10x4x5xf32>
  %1 = weft.dot %x, %0 batch [0] x [0] contract [1] x [1] : tensor<10x4xf32>, tensor<10x4x5xf32> -> tensor<10x5xf32>
  return %1 : tensor<10x5xf32>
})";
}

TEST_CASE("a contraction of each row with its own expert is defined") {
  // jax-ml/jax#33403: ragged_dot over shards is undefined behaviour
  for (const char *mesh : {"d=2", "d=3", "d=4"})
    for (const char *tokens : {"[d,-]", "[-,d]", "[-,-]"})
      for (const char *experts : {"[d,-,-]", "[-,d,-]", "[-,-,d]"})
        runWitness(mesh, raggedDot(tokens, experts));
}

TEST_CASE("an op with 64 operands is laid out at once") {
  // upstream's probe: 18 operands take 6.2 s and 1.7 GB, for 2^18 combinations
  std::string arguments, values, types;
  for (int i = 0; i < 64; ++i) {
    std::string comma = i ? ", " : "", name = "%x" + std::to_string(i);
    arguments += comma + name + ": tensor<6x3xf32> @" +
                 (i % 3 == 0   ? "[d,-]"
                  : i % 3 == 1 ? "[-,d]"
                               : "[-,-]");
    values += comma + name;
    types += comma + "tensor<6x3xf32>";
  }
  for (const char *mesh : {"d=2", "d=4"})
    for (const std::string dim : {"0", "1"}) {
      std::string result =
          dim == "0" ? "tensor<384x3xf32>" : "tensor<6x192xf32>";
      runWitness(mesh, "(" + arguments + ") -> (" + result +
                           ") {\n%r = weft.concatenate " + values + " dim " +
                           dim + " : (" + types + ") -> " + result +
                           "\nreturn %r : " + result + "\n}");
    }
}
