//===- weft-plugin.cpp - Weft in a stock mlir-opt -------------------------===//
//
// mlir-opt program.mlir --load-dialect-plugin=weft-plugin.so \
//   --load-pass-plugin=weft-plugin.so --pass-pipeline='builtin.module(...)'
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/Register.h"
#include "weft/runtime/abi/version.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {
      MLIR_PLUGIN_API_VERSION, "weft", WEFT_VERSION,
      [](mlir::DialectRegistry *registry) { weft::registerAll(*registry); }};
}

extern "C" __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "weft", WEFT_VERSION,
          [] { weft::registerAllPasses(); }};
}
