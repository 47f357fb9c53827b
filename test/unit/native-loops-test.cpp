//===- native-loops-test.cpp - loops of a plan and of a routine -----------===//
//
// A program is compiled twice from its loop nests: with its loops as
// instructions of the plan, and as routines. All bits of the results are equal.

#include "weft/compiler/Register.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/passes/planning/Passes.h"
#include "weft/test/unit/TestTarget.h"
#include "weft/test/unit/runtime-loaded.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {

struct Program {
  const char *name, *text; ///< a function with arguments and results of f32
  std::vector<int64_t> inputs, outputs; ///< numbers of elements
  int64_t devices = 1;
};

const Program programs[] = {
    {"a loop of numbers",
     R"(func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %r = weft.for 1000 (%x) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %0 = weft.sin %v : tensor<f32>
    %1 = weft.mul %0, %v : tensor<f32>
    %2 = weft.convert %i : tensor<i32> -> tensor<f32>
    %3 = weft.add %1, %2 : tensor<f32>
    weft.yield %3 : tensor<f32>
  }
  return %r : tensor<f32>
})",
     {1},
     {1}},
    {"products of small matrices, read elsewhere before they are replaced",
     R"(func.func @f(%x: tensor<3x3xf32>, %w: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>) {
  %z = weft.constant dense<0.0> : tensor<3xf32>
  %r:3 = weft.for 50 (%x, %w, %z) : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<3x3xf32>, %u: tensor<3x3xf32>, %s: tensor<3xf32>):
    %0 = weft.dot %v, %u contract [1] x [0] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
    %1 = weft.tanh %0 : tensor<3x3xf32>
    %2 = weft.reduce sum %v dims [1] : tensor<3x3xf32> -> tensor<3xf32>
    %3 = weft.add %s, %2 : tensor<3xf32>
    weft.yield %1, %u, %3 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>
  }
  return %r#0, %r#2 : tensor<3x3xf32>, tensor<3xf32>
})",
     {9, 9},
     {9, 3}},
    {"values that change places",
     R"(func.func @f(%x: tensor<5xf32>, %y: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %r:2 = weft.for 7 (%x, %y) : (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<5xf32>, %u: tensor<5xf32>):
    %0 = weft.exp %v : tensor<5xf32>
    %1 = weft.neg %0 : tensor<5xf32>
    weft.yield %u, %1 : tensor<5xf32>, tensor<5xf32>
  }
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xf32>
})",
     {5, 5},
     {5, 5}},
    {"large values that change places, so that the plan has the body twice",
     R"(func.func @f(%x: tensor<8000xf32>, %y: tensor<8000xf32>) -> (tensor<8000xf32>, tensor<8000xf32>) {
  %r:2 = weft.for 5 (%x, %y) : (tensor<8000xf32>, tensor<8000xf32>) -> (tensor<8000xf32>, tensor<8000xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<8000xf32>, %u: tensor<8000xf32>):
    %0 = weft.neg %v : tensor<8000xf32>
    weft.yield %u, %0 : tensor<8000xf32>, tensor<8000xf32>
  }
  return %r#0, %r#1 : tensor<8000xf32>, tensor<8000xf32>
})",
     {8000, 8000},
     {8000, 8000}},
    {"a loop until a value is small, in a loop, with a branch",
     R"(func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = weft.for 20 (%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<2xf32>):
    %w = weft.while(%v) : (tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%a: tensor<2xf32>):
      %limit = weft.constant dense<0.125> : tensor<f32>
      %0 = weft.abs %a : tensor<2xf32>
      %1 = weft.reduce max %0 dims [0] : tensor<2xf32> -> tensor<f32>
      %2 = weft.compare gt %1, %limit : tensor<f32>, tensor<f32> -> tensor<i1>
      weft.condition %2(%a) : tensor<i1>, tensor<2xf32>
    } do {
    ^bb0(%a: tensor<2xf32>):
      %half = weft.constant dense<0.37> : tensor<2xf32>
      %0 = weft.mul %a, %half : tensor<2xf32>
      weft.yield %0 : tensor<2xf32>
    }
    %three = weft.constant dense<3> : tensor<i32>
    %c = weft.compare lt %i, %three : tensor<i32>, tensor<i32> -> tensor<i1>
    %b = weft.case %c(%w) : tensor<i1>, (tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%a: tensor<2xf32>):
      %0 = weft.exp %a : tensor<2xf32>
      weft.yield %0 : tensor<2xf32>
    }, {
    ^bb0(%a: tensor<2xf32>):
      %one = weft.constant dense<1.7> : tensor<2xf32>
      %0 = weft.add %a, %one : tensor<2xf32>
      weft.yield %0 : tensor<2xf32>
    }
    weft.yield %b : tensor<2xf32>
  }
  return %r : tensor<2xf32>
})",
     {2},
     {2}},
    {"an array that rounds change, on two devices",
     R"(func.func @f(%t: tensor<64xf32> {weft.layout = #weft.layout<#mesh, [{}]>}, %x: tensor<64xf32> {weft.layout = #weft.layout<#mesh, [{"a"}]>}) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = weft.for 100 (%t, %x) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<64xf32>, %u: tensor<64xf32>):
    %0 = weft.convert %i : tensor<i32> -> tensor<f32>
    %1 = weft.sqrt %0 : tensor<f32>
    %2 = weft.reshape %1 : tensor<f32> -> tensor<1xf32>
    %3 = weft.dynamic_update_slice %v, %2 at (%i) : (tensor<64xf32>, tensor<1xf32>, tensor<i32>) -> tensor<64xf32>
    %4 = weft.sin %u : tensor<64xf32>
    weft.yield %3, %4 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
})",
     {64, 64},
     {64, 64},
     2},
};

/// The results of a program whose loops are in the plan or in routines.
std::vector<std::vector<float>> resultsOf(const Program &program,
                                          bool inRoutines) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(
      "#mesh = #weft.mesh<\"a\"=" + std::to_string(program.devices) +
          ">\nmodule attributes {weft.mesh = #mesh} {\n" + program.text + "\n}",
      &context);
  REQUIRE(module);
  CompileOptions options;
  options.threads = 1;
  options.target = test::testTarget();
  REQUIRE(succeeded(runStages(*module, options, Stage::nests)));
  PassManager passes(&context);
  passes.addPass(createPlaceBuffersPass());
  if (inRoutines)
    passes.addPass(createOutlineLoopsPass());
  REQUIRE(succeeded(passes.run(*module)));
  CHECK(module->getOps<plan::RoutineOp>().empty() != inRoutines);
  options.from = Stage::plan;
  auto image = compileProgram(*module, options);
  REQUIRE(succeeded(image));
  test::Loaded loaded(*image, "cpu:" + std::to_string(program.devices));
  for (auto [index, count] : llvm::enumerate(program.inputs)) {
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = std::sin(float(i + 3 * int64_t(index)) + 0.3F);
    loaded.write(index, values);
  }
  std::vector<std::vector<float>> results;
  for (int time = 0; time < 2; ++time) {
    REQUIRE(loaded.run() == "");
    results.clear();
    for (auto [index, count] : llvm::enumerate(program.outputs))
      results.push_back(loaded.read<float>(index, count));
  }
  return results;
}

} // namespace

TEST_CASE("a routine's results have the bits of the plan's loop") {
  for (const Program &program : programs) {
    INFO(program.name);
    auto inPlan = resultsOf(program, false), native = resultsOf(program, true);
    for (auto [index, values] : llvm::enumerate(inPlan)) {
      INFO("result " << index << ": " << values[0] << ", " << native[index][0]);
      CHECK(std::isfinite(values[0]));
      CHECK(std::memcmp(values.data(), native[index].data(),
                        values.size() * sizeof(float)) == 0);
    }
  }
}
