//===- embedding.cpp - Weft's dialects and stages in another program ------===//
//
//   embedding           prints the local program of each device
//   embedding plan      prints the plan
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/Register.h"
#include "weft/compiler/stages/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

/// A dense layer on four devices: rows of x on "data", units on "model".
static constexpr llvm::StringLiteral program = R"mlir(
#mesh = #weft.mesh<"data"=2, "model"=2>
module attributes {weft.mesh = #mesh} {
  func.func @predict(
      %x: tensor<16x8xf32> {weft.name = "x", weft.role = "input",
        weft.layout = #weft.layout<#mesh, [{"data"}, {}]>},
      %w: tensor<8x4xf32> {weft.name = "kernel", weft.role = "weight",
        weft.layout = #weft.layout<#mesh, [{}, {"model"}]>})
      -> (tensor<16x4xf32> {weft.name = "y"}) {
    %0 = weft.dot %x, %w contract [1] x [0]
      : tensor<16x8xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
    %1 = weft.relu %0 : tensor<16x4xf32>
    return %1 : tensor<16x4xf32>
  }
}
)mlir";

int main(int argc, char **argv) {
  llvm::StringRef name = argc > 1 ? argv[1] : "partitioned";
  std::optional<weft::Stage> to = weft::parseStage(name);
  if (!to) {
    llvm::errs() << "error: unknown stage '" << name
                 << "'; use partitioned or plan\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  weft::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program, &context);
  if (!module)
    return 1;
  mlir::PassManager pm(&context);
  weft::buildPipeline(pm, {}, weft::Stage::imported, *to);
  if (mlir::failed(pm.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
