//===- weft-opt.cpp - passes on the command line --------------------------===//

#include "weft/compiler/Register.h"
#include "weft/compiler/codegen/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  weft::registerUpstreamDialects(registry);
  weft::registerAll(registry);
  mlir::registerTransformsPasses();
  weft::registerAllPasses();
  weft::registerWeftCodegenPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Weft's optimiser\n", registry));
}
