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
//       weft.role = "weight", weft.metadata = "{...}", sdy.sharding = ...}, ...)
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

/// Registers the dialects whose ops `read` makes.
void registerDialects(mlir::DialectRegistry &registry);

/// Whether the bytes begin like such a text or artifact.
bool looksLikeProgram(llvm::StringRef bytes);

/// Whether this is a portable artifact. Damaged ones may crash MLIR's reader: a
/// file of unknown origin is best read in a process of its own.
bool isArtifact(llvm::StringRef bytes);

/// Emits an error for brackets that nest too deep, in text of any dialect, as
/// MLIR's parser is recursive and its stack limited.
mlir::LogicalResult checkNesting(llvm::StringRef text, llvm::StringRef name,
                                 mlir::MLIRContext *context);

/// Reads a program. Null after an error, which goes to the context's handler
/// with `name` as its place.
mlir::OwningOpRef<mlir::ModuleOp>
read(llvm::StringRef bytes, llvm::StringRef name, mlir::MLIRContext *context);

struct ImportOptions {
  /// Number of devices: that of the program's mesh, or 1 if the program has no
  /// shardings. 0: the mesh's. A program without a mesh runs on any number of
  /// devices, replicated.
  int64_t devices = 0;
  /// Whether arguments and results are each device's own arrays, as in JAX:
  /// unreduced ones are summands, and all blocks are full if the program does
  /// not state the sharding. Otherwise full arrays are passed and returned.
  bool devicePorts = false;
  std::string function = "main";
};

/// A function that the file marks as a step of a model.
struct StepFunction {
  std::string name;  ///< of the function
  std::string kind;  ///< train, evaluate or predict
  int64_t batch = 0; ///< samples
};
/// The steps in the order of the file; none in other programs.
llvm::SmallVector<StepFunction> stepFunctions(mlir::ModuleOp program);

/// The number of devices in the mesh of the program's shardings; 1 without one,
/// 0 if it is refused.
int64_t deviceCount(mlir::ModuleOp program);

/// Imports a program. Null after an error, which is on the op.
mlir::OwningOpRef<mlir::ModuleOp> import(mlir::ModuleOp program,
                                         const ImportOptions &options);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_IMPORT_H
