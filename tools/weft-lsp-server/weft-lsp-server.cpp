//===- weft-lsp-server.cpp - Weft's text in editors -----------------------===//
//
// A language server of MLIR with Weft's dialects: errors while typing, types of
// values, and their uses. See docs/embedding.md for how an editor starts it.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/Register.h"
#include "weft/compiler/codegen/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  weft::registerUpstreamDialects(registry);
  weft::registerAll(registry);
  mlir::registerTransformsPasses();
  weft::registerAllPasses();
  weft::registerWeftCodegenPasses();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
