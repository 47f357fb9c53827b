//===- known-failures-test.cpp - what other partitioners got wrong ----------===//
//
// Each case is the smallest program of a failure that users of GSPMD, Shardy,
// DTensor or upstream MLIR reported, by the number of the report. It is run on
// every device with NaN in all padding and compared with its global meaning;
// `refused` collectives must not appear.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/verify/CompareWithGlobal.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;

namespace {
constexpr const char *kLayouts = R"(
#row = #weft.layout<#mesh, [{"d"}, {}]>
#col = #weft.layout<#mesh, [{}, {"d"}]>
#rep = #weft.layout<#mesh, [{}, {}]>
#vec = #weft.layout<#mesh, [{"d"}]>
#all = #weft.layout<#mesh, [{}]>
#image = #weft.layout<#mesh, [{}, {"d"}, {}, {}]>
#kernel = #weft.layout<#mesh, [{}, {}, {}, {}]>
)";

struct Failure {
  const char *report;
  const char *program;              ///< arguments, results and body of @main
  std::vector<const char *> refused; ///< collectives
};

void check(const Failure &failure, int devices) {
  std::string text = "#mesh = #weft.mesh<\"d\"=" + std::to_string(devices) +
                     ">" + kLayouts +
                     "module attributes {weft.mesh = #mesh} {\nfunc.func @main" +
                     failure.program + "}\n";
  INFO(failure.report << "\n" << text);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<WeftDialect, coll::CollDialect, func::FuncDialect>();
  auto global = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(global);
  OwningOpRef<ModuleOp> local(global->clone());
  PassManager pm(&context);
  pm.addPass(createPropagateLayoutsPass());
  pm.addPass(createVerifyLayoutsPass());
  pm.addPass(createPartitionPass());
  pm.addPass(createCombineAllReducesPass());
  REQUIRE(succeeded(pm.run(*local)));
  local->walk([&](Operation *op) {
    for (const char *name : failure.refused) {
      INFO(name);
      CHECK(op->getName().getStringRef() != name);
    }
  });
  CompareOptions options;
  options.tolerance = 0;
  auto entry = [](ModuleOp module) {
    return module.lookupSymbol<func::FuncOp>("main");
  };
  CHECK(succeeded(compareWithGlobal(entry(*global), entry(*local), options)));
}

const Failure kWrongResults[] = {
    {"openxla/xla#49122: a dynamic slice's start is clamped per shard",
     R"((%x: tensor<8xf32> {weft.layout = #vec}) -> (tensor<3xf32> {weft.layout = #all}) {
  %s = weft.constant dense<7> : tensor<i32>
  %r = weft.dynamic_slice %x at (%s) : (tensor<8xf32>, tensor<i32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
})",
     {"coll.all_gather"}},
    {"openxla/xla#49118: a dynamic update is dropped when its start is clamped",
     R"((%x: tensor<8xf32> {weft.layout = #vec}, %u: tensor<3xf32> {weft.layout = #all}) -> (tensor<8xf32> {weft.layout = #vec}) {
  %s = weft.constant dense<7> : tensor<i32>
  %r = weft.dynamic_update_slice %x, %u at (%s) : (tensor<8xf32>, tensor<3xf32>, tensor<i32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
})",
     {"coll.all_gather", "coll.all_reduce"}},
    {"openxla/xla#42481: the gradient of a look-up is scattered into a shard",
     R"((%t: tensor<9x4xf32> {weft.layout = #row}, %g: tensor<6x4xf32> {weft.layout = #row}) -> (tensor<9x4xf32> {weft.layout = #row}) {
  %i = weft.constant dense<[0, 8, 3, 3, 5, 8]> : tensor<6xi32>
  %r = weft.scatter sum %t at %i with %g {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<9x4xf32>, tensor<6xi32>, tensor<6x4xf32> -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
})",
     {}},
    {"jax-ml/jax#19271: top_k of a sharded dimension",
     R"((%x: tensor<3x11xf32> {weft.layout = #col}) -> (tensor<3x4xf32>, tensor<3x4xi32>) {
  %v, %i = weft.top_k %x dim 1 : tensor<3x11xf32> -> tensor<3x4xf32>, tensor<3x4xi32>
  return %v, %i : tensor<3x4xf32>, tensor<3x4xi32>
})",
     {}},
    {"jax-ml/jax#21403: cumsum of a sharded dimension",
     R"((%x: tensor<13xf32> {weft.layout = #vec}) -> (tensor<13xf32> {weft.layout = #vec}) {
  %r = weft.cumulative sum %x dim 0 : tensor<13xf32>
  return %r : tensor<13xf32>
})",
     {"coll.fetch", "coll.all_reduce"}},
    {"jax-ml/jax#39301: the transpose of a roll",
     R"((%x: tensor<7xf32> {weft.layout = #vec}) -> (tensor<7xf32> {weft.layout = #vec}) {
  %a = weft.roll %x by [3] : tensor<7xf32>
  %r = weft.roll %a by [-3] : tensor<7xf32>
  return %r : tensor<7xf32>
})",
     {"coll.all_gather"}},
    {"tenstorrent/tt-mlir#8623: arg_max sums positions over devices",
     R"((%x: tensor<4x10xf32> {weft.layout = #col}) -> (tensor<4xi32> {weft.layout = #all}) {
  %r = weft.arg_max %x dim 1 : tensor<4x10xf32> -> tensor<4xi32>
  return %r : tensor<4xi32>
})",
     {"coll.all_reduce"}},
    {"pytorch PR186129: depthwise convolution over a sharded height",
     R"((%x: tensor<2x7x5x3xf32> {weft.layout = #image}, %w: tensor<3x3x1x3xf32> {weft.layout = #kernel}) -> (tensor<2x7x5x3xf32> {weft.layout = #image}) {
  %r = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>, feature_groups = 3 : i64} : tensor<2x7x5x3xf32>, tensor<3x3x1x3xf32> -> tensor<2x7x5x3xf32>
  return %r : tensor<2x7x5x3xf32>
})",
     {"coll.all_gather"}},
    {"pytorch#179502: a view of a sharded dimension",
     R"((%x: tensor<6x4xf32> {weft.layout = #row}) -> (tensor<4x6xf32>) {
  %r = weft.reshape %x : tensor<6x4xf32> -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
})",
     {}},
    {"pytorch/xla#5264: the operands of a subtraction change places",
     R"((%x: tensor<6x4xf32> {weft.layout = #row}, %y: tensor<6x4xf32> {weft.layout = #col}) -> (tensor<6x4xf32>) {
  %r = weft.sub %x, %y : tensor<6x4xf32>
  return %r : tensor<6x4xf32>
})",
     {}},
};

const Failure kReplications[] = {
    {"EnzymeAD/Enzyme-JAX#822: pad replicates its operand",
     R"((%x: tensor<10x4xf32> {weft.layout = #row}) -> (tensor<13x4xf32> {weft.layout = #row}) {
  %r = weft.pad %x low [1, 0] high [2, 0] interior [0, 0] : tensor<10x4xf32> -> tensor<13x4xf32>
  return %r : tensor<13x4xf32>
})",
     {"coll.all_gather"}},
    {"openxla/xla#4062: a contraction with transposed output gathers both",
     R"((%x: tensor<8x4xf32> {weft.layout = #row}, %w: tensor<4x6xf32> {weft.layout = #rep}) -> (tensor<6x8xf32> {weft.layout = #col}) {
  %a = weft.dot %x, %w contract [1] x [0] : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  %r = weft.transpose %a [1, 0] : tensor<8x6xf32> -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
})",
     {"coll.all_gather"}},
    {"jax-ml/jax#26946: a vocabulary of 17 over 8 devices is replicated",
     R"((%t: tensor<17x4xf32> {weft.layout = #row}) -> (tensor<5x4xf32> {weft.layout = #rep}) {
  %i = weft.constant dense<[0, 16, 15, 3, 99]> : tensor<5xi32>
  %r = weft.gather %t at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : tensor<17x4xf32>, tensor<5xi32> -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
})",
     {"coll.all_gather"}},
    {"pytorch#176446: convolution over a sharded height is rejected",
     R"((%x: tensor<1x9x9x2xf32> {weft.layout = #image}, %w: tensor<3x3x2x4xf32> {weft.layout = #kernel}) -> (tensor<1x5x5x4xf32> {weft.layout = #image}) {
  %r = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<1x9x9x2xf32>, tensor<3x3x2x4xf32> -> tensor<1x5x5x4xf32>
  return %r : tensor<1x5x5x4xf32>
})",
     {"coll.all_gather"}},
    {"openxla/xla PR44796: all of a stack is gathered for one slice of it",
     R"((%x: tensor<6x4xf32> {weft.layout = #row}) -> (tensor<1x4xf32> {weft.layout = #rep}) {
  %r = weft.slice %x from [4, 0] to [5, 4] by [1, 1] : tensor<6x4xf32> -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
})",
     {}},
};
} // namespace

TEST_CASE("programs that others compute wrongly are right") {
  for (const Failure &failure : kWrongResults)
    for (int devices : {2, 3, 4, 5, 8})
      check(failure, devices);
}

TEST_CASE("programs that others replicate stay sharded") {
  for (const Failure &failure : kReplications)
    for (int devices : {2, 3, 4, 5, 8})
      check(failure, devices);
}
