//===- program-work-test.cpp - which programs are worth optimized code ----===//

#include "weft/compiler/driver/ProgramWork.h"

#include "weft/compiler/Register.h"
#include "weft/compiler/driver/CompileStep.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
/// Returns the work of the plan of a function with this signature and body.
double workOf(const std::string &signature, const std::string &body) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "#mesh = #weft.mesh<\"one\"=1>\n"
      "module attributes {weft.mesh = #mesh} {\n"
      "func.func @f" +
          signature + " {\n" + body + "}\n}\n",
      &context);
  REQUIRE(module);
  CompileOptions options;
  options.target = "cpu:generic";
  REQUIRE(succeeded(runStages(*module, options, Stage::plan)));
  auto programs = llvm::to_vector(module->getOps<plan::ProgramOp>());
  REQUIRE(programs.size() == 1);
  return workOfProgram(programs.front());
}
} // namespace

TEST_CASE("the work of a program is that of the ops in its loop nests") {
  // The result has 4,096 elements, each of 1,024 multiply-adds.
  CHECK(workOf("(%x: tensor<64x1024xf32>, %w: tensor<1024x64xf32>) -> "
               "tensor<64x64xf32>",
               "%0 = weft.dot %x, %w contract [1] x [0] : "
               "tensor<64x1024xf32>, tensor<1024x64xf32> -> "
               "tensor<64x64xf32>\nreturn %0 : tensor<64x64xf32>\n") ==
        64.0 * 64 * 1024);
  // Each element of a convolution has 3 x 3 x 6 multiply-adds: each feature
  // reads its own part of the kernel, and its own group of channels.
  CHECK(workOf("(%x: tensor<2x8x8x12xf32>, %w: tensor<3x3x6x16xf32>) -> "
               "tensor<2x6x6x16xf32>",
               "%0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, "
               "2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = "
               "array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = "
               "array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = "
               "array<i64: 1, 1>, window_dilation = array<i64: 1, 1>, "
               "feature_groups = 2 : i64} : tensor<2x8x8x12xf32>, "
               "tensor<3x3x6x16xf32> -> tensor<2x6x6x16xf32>\n"
               "return %0 : tensor<2x6x6x16xf32>\n") ==
        2.0 * 6 * 6 * 16 * (3 * 3 * 6));
  // The program is two ops of 4 instructions on 32 elements.
  double small = workOf("(%x: tensor<32xf32>) -> tensor<32xf32>",
                        "%0 = weft.neg %x : tensor<32xf32>\n"
                        "%1 = weft.abs %0 : tensor<32xf32>\n"
                        "return %1 : tensor<32xf32>\n");
  CHECK(small == 2 * 4 * 32);
  CHECK(small <= kBriefWork);
  CHECK(64.0 * 64 * 1024 > kBriefWork);
}
