//===- Import.h - StableHLO programs as weft modules ------------*- C++ -*-===//
//
//   DialectRegistry registry;
//   weft::registerAllDialects(registry), weft::stablehlo::registerDialects(registry);
//   MLIRContext context(registry);
//   auto program = weft::stablehlo::read(bytes, "prog.mlir", &context);
//   auto module  = weft::stablehlo::import(*program, {});   // stage `imported`
//
// `bytes` is the text that JAX prints (lowered.as_text(), pretty or generic
// form) or a portable artifact (JAX passes these to PJRT plugins, and
// jax.export writes them). The module has one public function; its ports are
// named in/000, in/001, ... and out/000, ...; shardings of the dialect sdy and
// strings of mhlo.sharding become annotations; donated arguments are marked.
//
// A file of weft.trace has a function for each step of a Keras model and
// describes its ports:
//
//   func.func public @train(%0: tensor<784x10xf32> {weft.name = "d1/kernel",
//       weft.role = "weight", weft.facts = "{...}", sdy.sharding = ...}, ...)
//       -> (...) attributes {weft.step = "train", weft.batch = 32 : i64}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_IMPORT_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>

namespace weft::stablehlo {

/// Registers the dialects that read() needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Whether the bytes look like a program in text, or are an artifact.
bool looksLikeProgram(llvm::StringRef bytes);

/// Whether the bytes begin as a portable artifact, which is MLIR bytecode.
/// Damaged ones may crash MLIR's reader; read a file of unknown origin in a
/// process of its own.
bool isArtifact(llvm::StringRef bytes);

/// Emits an error for text of any dialect that would crash MLIR's parser
/// (reader/TextFaults.h). read() checks text itself.
mlir::LogicalResult checkText(llvm::StringRef text, llvm::StringRef name,
                              mlir::MLIRContext *context);

/// Reads a program. Returns null after an error, which is emitted with `name`
/// as its location.
mlir::OwningOpRef<mlir::ModuleOp>
read(llvm::StringRef bytes, llvm::StringRef name, mlir::MLIRContext *context);

struct ImportOptions {
  /// The number of devices: that of the program's mesh, 0 to use the mesh, or
  /// 1, for which the program's shardings are ignored. A program without
  /// shardings runs on any number of devices, replicated.
  int64_t devices = 0;
  /// Whether arguments and results are arrays of each device, as in JAX;
  /// without a sharding each device has the full array, and unreduced ones are
  /// summands. Otherwise arguments and results are global arrays.
  bool devicePorts = false;
  std::string function = "main";
};

/// A function that the file marks as a step of a model.
struct StepFunction {
  std::string name;  ///< name of the function
  std::string kind;  ///< train, evaluate or predict
  int64_t batch = 0; ///< number of samples
};
/// The steps in the order of the file; empty for programs that were not traced.
llvm::SmallVector<StepFunction> stepFunctions(mlir::ModuleOp program);

/// The number of devices in the mesh of the program's shardings: 1 without
/// shardings, 0 if they are refused.
int64_t deviceCount(mlir::ModuleOp program);

/// Imports a program, some of whose ops it rewrites. Null after an error, which
/// is emitted.
mlir::OwningOpRef<mlir::ModuleOp> import(mlir::ModuleOp program,
                                         const ImportOptions &options);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_IMPORT_H
