// Programs of upstream MLIR's ops run with every layout of their arguments on
// an uneven mesh. With NaN in all padding, the devices give the global
// program's results.

#include "weft/compiler/Register.h"
#include "weft/compiler/stages/Pipeline.h"
#include "weft/passes/verify/CompareWithGlobal.h"
#include "weft/test/unit/PartitionPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;

static MLIRContext &context() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registry
        .insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                scf::SCFDialect, tensor::TensorDialect>();
    registerAll(registry);
    auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

/// Returns every layout over "x"=2 and "y"=3 in which each axis shards one
/// dimension or none; in a dimension of both, x is the major axis.
static std::vector<Layout> layoutsOf(int64_t rank) {
  SubAxis x{0, 1, 2}, y{1, 1, 3};
  std::vector<Layout> layouts{Layout::replicated(rank)};
  for (int64_t a = -1; a < rank; ++a)
    for (int64_t b = -1; b < rank; ++b) {
      Layout layout = Layout::replicated(rank);
      if (a >= 0)
        layout.dims[a].push_back(x);
      if (b >= 0)
        layout.dims[b].push_back(y);
      if (a >= 0 || b >= 0)
        layouts.push_back(layout);
    }
  return layouts;
}

/// Partitions the program, with all stages or with the partitioning passes
/// alone, and compares its results with the global program's.
static void checkLaidOut(ModuleOp global, bool allStages) {
  OwningOpRef<ModuleOp> local(global.clone());
  PassManager pm(&context());
  if (allStages)
    buildPipeline(pm, {}, Stage::imported, Stage::scheduled);
  else
    test::addPartitionAlone(pm);
  REQUIRE(succeeded(pm.run(*local)));
  auto entry = [](ModuleOp module) {
    return *module.getOps<func::FuncOp>().begin();
  };
  CompareOptions options;
  options.tolerance = 1e-6;
  CHECK(succeeded(compareWithGlobal(entry(global), entry(*local), options)));
}

/// Checks the program with every combination of layouts of the arguments from
/// `index` on.
static void checkFrom(ModuleOp module, MeshAttr mesh, unsigned index,
                      unsigned &count) {
  auto function = *module.getOps<func::FuncOp>().begin();
  if (index == function.getNumArguments()) {
    ++count;
    return checkLaidOut(module, count % 2 == 0);
  }
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  for (const Layout &layout : layoutsOf(type.getRank())) {
    INFO("argument " << index << " " << toString(mesh.getMesh(), layout));
    function.setArgAttr(index, kLayoutAttr, LayoutAttr::get(mesh, layout));
    checkFrom(module, mesh, index + 1, count);
  }
}

static unsigned check(const std::string &program) {
  INFO(program);
  auto module = parseSourceString<ModuleOp>(
      "module attributes {weft.mesh = #weft.mesh<\"x\"=2, \"y\"=3>} {" +
          program + "}",
      &context());
  REQUIRE(module);
  unsigned count = 0;
  checkFrom(*module, (*module)->getAttrOfType<MeshAttr>(kMeshAttr), 0, count);
  return count;
}

TEST_CASE("an init counts once where the contraction is sharded") {
  CHECK(
      check(
          R"(func.func @f(%a: tensor<4x7xf32>, %b: tensor<7x5xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %0 = linalg.matmul ins(%a, %b : tensor<4x7xf32>, tensor<7x5xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32> })") == 729);
}

TEST_CASE("contractions with batches, transposed, filled, of one slice") {
  check(
      R"(func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
    %z = arith.constant 1.0 : f32
    %e = tensor.empty() : tensor<2x3x5xf32>
    %c = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %0 = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf32>, tensor<2x4x5xf32>) outs(%c : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    return %0 : tensor<2x3x5xf32> })");
  check(
      R"(func.func @f(%a: tensor<4x3xf32>, %b: tensor<3x2x4xf32>) -> tensor<3x4xf32> {
    %e = arith.constant dense<2.0> : tensor<3x4xf32>
    %t = tensor.empty() : tensor<4x3xf32>
    %0 = linalg.transpose ins(%e : tensor<3x4xf32>) outs(%t : tensor<4x3xf32>) permutation = [1, 0]
    %s = linalg.add ins(%a, %0 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%t : tensor<4x3xf32>) -> tensor<4x3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (i, 1, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %b : tensor<4x3xf32>, tensor<3x2x4xf32>) outs(%e : tensor<3x4xf32>) {
      ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %q = arith.addf %p, %acc : f32
      linalg.yield %q : f32 } -> tensor<3x4xf32>
    return %r : tensor<3x4xf32> })");
}

TEST_CASE("bodies for which a neutral operand is not neutral") {
  for (std::string combiner :
       {"addf", "mulf", "maximumf", "minimumf", "maxnumf"})
    check(
        R"(func.func @f(%a: tensor<5x4xf32>, %c: tensor<5xf32>) -> tensor<5xf32> {
    %two = arith.constant 2.0 : f32
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<5x4xf32>) outs(%c : tensor<5xf32>) {
      ^bb0(%x: f32, %acc: f32):
      %y = arith.addf %x, %two : f32
      %z = arith.)" +
        combiner + R"( %acc, %y : f32
      linalg.yield %z : f32 } -> tensor<5xf32>
    return %0 : tensor<5xf32> })");
}

TEST_CASE("a body that is no known reduction, and two results") {
  check(R"(func.func @f(%a: tensor<5x4xf32>) -> (tensor<5xf32>, tensor<5xi64>) {
    %m = arith.constant dense<-100.0> : tensor<5xf32>
    %z = arith.constant dense<0> : tensor<5xi64>
    %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<5x4xf32>) outs(%m, %z : tensor<5xf32>, tensor<5xi64>) {
      ^bb0(%x: f32, %best: f32, %at: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %more = arith.cmpf ogt, %x, %best : f32
      %v = arith.select %more, %x, %best : f32
      %p = arith.select %more, %k, %at : i64
      linalg.yield %v, %p : f32, i64 } -> (tensor<5xf32>, tensor<5xi64>)
    return %0#0, %0#1 : tensor<5xf32>, tensor<5xi64> })");
}

TEST_CASE("positions are global, and padding is never divided by") {
  check(
      R"(func.func @f(%a: tensor<5x4xi32>, %b: tensor<5x4xi32>) -> tensor<5x4xi32> {
    %one = arith.constant dense<1> : tensor<5x4xi32>
    %e = tensor.empty() : tensor<5x4xi32>
    %d = arith.addi %b, %one : tensor<5x4xi32>
    %q = arith.divsi %a, %d : tensor<5x4xi32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %d : tensor<5x4xi32>, tensor<5x4xi32>) outs(%e : tensor<5x4xi32>) {
      ^bb0(%x: i32, %y: i32, %o: i32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %p = arith.addi %i, %j : index
      %c = arith.index_cast %p : index to i32
      %s = arith.addi %c, %x : i32
      %r = arith.remsi %s, %y : i32
      linalg.yield %r : i32 } -> tensor<5x4xi32>
    return %0 : tensor<5x4xi32> })");
}

TEST_CASE("convolutions and pooling receive halos") {
  check(
      R"(func.func @f(%a: tensor<1x9x6x2xf32>, %k: tensor<3x2x2x2xf32>) -> tensor<1x4x5x2xf32> {
    %o = arith.constant dense<1.0> : tensor<1x4x5x2xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>} ins(%a, %k : tensor<1x9x6x2xf32>, tensor<3x2x2x2xf32>) outs(%o : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
    return %0 : tensor<1x4x5x2xf32> })");
  check(R"(func.func @f(%a: tensor<2x9x8x2xf32>) -> tensor<2x5x6x2xf32> {
    %o = arith.constant dense<-100.0> : tensor<2x5x6x2xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %0 = linalg.pooling_nhwc_max {dilations = dense<[2, 1]> : tensor<2xi64>} ins(%a, %w : tensor<2x9x8x2xf32>, tensor<3x3xf32>) outs(%o : tensor<2x5x6x2xf32>) -> tensor<2x5x6x2xf32>
    return %0 : tensor<2x5x6x2xf32> })");
}

TEST_CASE("tensors are cut, joined and regrouped") {
  check(
      R"(func.func @f(%a: tensor<7x6xf32>, %b: tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3xf32>, tensor<7x6xf32>, tensor<10x6xf32>, tensor<9x6xf32>) {
    %z = arith.constant 3.0 : f32
    %0 = tensor.extract_slice %a[1, 0] [3, 6] [2, 1] : tensor<7x6xf32> to tensor<3x6xf32>
    %1 = tensor.extract_slice %a[2, 4] [3, 1] [1, 1] : tensor<7x6xf32> to tensor<3xf32>
    %2 = tensor.insert_slice %b into %a[3, 0] [3, 6] [1, 1] : tensor<3x6xf32> into tensor<7x6xf32>
    %3 = tensor.concat dim(0) %a, %b : (tensor<7x6xf32>, tensor<3x6xf32>) -> tensor<10x6xf32>
    %4 = tensor.pad %a low[1, 0] high[1, 0] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<7x6xf32> to tensor<9x6xf32>
    return %0, %1, %2, %3, %4 : tensor<3x6xf32>, tensor<3xf32>, tensor<7x6xf32>, tensor<10x6xf32>, tensor<9x6xf32> })");
  check(
      R"(func.func @f(%a: tensor<6x4xf32>) -> (tensor<2x3x4xf32>, tensor<24xf32>) {
    %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
    %1 = tensor.collapse_shape %a [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
    return %0, %1 : tensor<2x3x4xf32>, tensor<24xf32> })");
}

TEST_CASE("loops and branches of scf around structured ops") {
  check(
      R"(func.func @f(%a: tensor<5x4xf32>, %w: tensor<4x4xf32>) -> tensor<5x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant dense<0.5> : tensor<5x4xf32>
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> tensor<5x4xf32> {
      %first = arith.cmpi eq, %i, %c0 : index
      %0 = linalg.matmul ins(%v, %w : tensor<5x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<5x4xf32>) -> tensor<5x4xf32>
      %1 = scf.if %first -> tensor<5x4xf32> {
        %2 = math.tanh %0 : tensor<5x4xf32>
        scf.yield %2 : tensor<5x4xf32>
      } else {
        %3 = arith.negf %0 : tensor<5x4xf32>
        scf.yield %3 : tensor<5x4xf32>
      }
      scf.yield %1 : tensor<5x4xf32>
    }
    return %r : tensor<5x4xf32> })");
}

/// Returns the interpreter's error for a function that is called with a vector
/// of 4 zeros.
static std::string refused(const std::string &program) {
  std::string said;
  ScopedDiagnosticHandler handler(
      &context(), [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
  auto module = parseSourceString<ModuleOp>(program, &context());
  REQUIRE(module);
  Tensor zeros({4}, Float32Type::get(&context()));
  CHECK(failed(
      interpretFunction(*module->getOps<func::FuncOp>().begin(), {zeros})));
  return said;
}

TEST_CASE("forms of upstream's ops that the interpreter does not know") {
  CHECK_THAT(
      refused(R"(func.func @f(%a: tensor<4xf32>) -> tensor<6xf32> {
    %0 = tensor.pad %a low[1] high[1] { ^bb0(%i: index):
      %j = arith.index_cast %i : index to i32
      %v = arith.sitofp %j : i32 to f32
      tensor.yield %v : f32 } : tensor<4xf32> to tensor<6xf32>
    return %0 : tensor<6xf32> })"),
      Catch::Contains("has no meaning in the interpreter unless it pads by one "
                      "value, and as much as attributes say"));
  CHECK_THAT(
      refused(R"(func.func @f(%a: tensor<4xf32>) -> tensor<6xf32> {
    %0 = tensor.pad %a low[1] high[1] { ^bb0(%i: index):
      %v = ub.poison : f32
      tensor.yield %v : f32 } : tensor<4xf32> to tensor<6xf32>
    return %0 : tensor<6xf32> })"),
      Catch::Contains("has no meaning in the interpreter as the padding of a "
                      "tensor.pad; use arith.constant"));
  CHECK_THAT(refused(R"(func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c9 = arith.constant 9 : index
    %r = scf.for %i = %c0 to %c9 step %c0 iter_args(%v = %a) -> tensor<4xf32> { scf.yield %v : tensor<4xf32> }
    return %r : tensor<4xf32> })"),
             Catch::Contains("runs from 0 to 9 by 0; steps are positive, and "
                             "no more than 1048576 are interpreted"));
}

TEST_CASE("a loop's bounds may be further apart than an integer says") {
  auto module = parseSourceString<ModuleOp>(
      R"(func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    %from = arith.constant -9223372036854775807 : index
    %to = arith.constant 9223372036854775807 : index
    %by = arith.constant 4611686018427387904 : index
    %one = arith.constant dense<1.0> : tensor<4xf32>
    %r = scf.for %i = %from to %to step %by iter_args(%v = %a) -> tensor<4xf32> {
      %w = arith.addf %v, %one : tensor<4xf32>
      scf.yield %w : tensor<4xf32> }
    return %r : tensor<4xf32> })",
      &context());
  REQUIRE(module);
  auto results = interpretFunction(*module->getOps<func::FuncOp>().begin(),
                                   {Tensor({4}, Float32Type::get(&context()))});
  REQUIRE(succeeded(results));
  CHECK((*results)[0].real(0) == 4);
}
