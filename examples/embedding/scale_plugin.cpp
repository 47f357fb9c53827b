//===- scale_plugin.cpp - the op in a library that a compiler loads -------===//
//
//   weft_compiler_load_plugin(compiler, "./scale_plugin.so");       in C
//   weft.Context().load_plugin("./scale_plugin.so")                 in Python
//
// It is linked to weft::WeftPlugin, whose WeftC is the compiler that loads it.
//
//===----------------------------------------------------------------------===//

#include "ScaleDialect.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

extern "C" __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {
      MLIR_PLUGIN_API_VERSION, "scale", "0.1",
      [](mlir::DialectRegistry *registry) { registerScaleDialect(*registry); }};
}
