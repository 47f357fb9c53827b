//===- Import.h - StableHLO programs as weft modules ------------*- C++ -*-===//
//
//   DialectRegistry registry;
//   weft::registerAllDialects(registry), weft::stablehlo::registerDialects(registry);
//   MLIRContext context(registry);
//   auto program = weft::stablehlo::read(bytes, "prog.mlir", &context);
//   auto module  = weft::stablehlo::import(*program, {});   // stage `imported`
//
// `bytes` is the text that JAX prints (lowered.as_text(), pretty or generic
// form) or a portable artifact (what JAX hands to PJRT plugins and what
// jax.export writes). The module has one public function; its ports are named
// in/000, in/001, ... and out/000, ...; shardings of the dialect sdy and
// strings of mhlo.sharding are annotations, donated arguments say so.
//
// A file of weft.trace has a function for each step of a Keras model and says
// what its ports are:
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

/// Is it such text or such an artifact, as far as its beginning tells?
bool looksLikeProgram(llvm::StringRef bytes);

/// Is it a portable artifact? Damaged ones may crash MLIR's reader: a file of
/// unknown origin is best read in a process of its own.
bool isArtifact(llvm::StringRef bytes);

/// An error where brackets nest too deep, in text of any dialect: MLIR's parser
/// calls itself for each, as deep as there is stack.
mlir::LogicalResult checkNesting(llvm::StringRef text, llvm::StringRef name,
                                 mlir::MLIRContext *context);

/// Null after an error, which goes to the context's handler with `name` as its
/// place.
mlir::OwningOpRef<mlir::ModuleOp>
read(llvm::StringRef bytes, llvm::StringRef name, mlir::MLIRContext *context);

struct ImportOptions {
  /// Number of devices: that of the program's mesh, or 1 if the program has no
  /// shardings. 0: that of the mesh. A program without a mesh runs on any number
  /// of devices, replicated.
  int64_t devices = 0;
  /// Are arguments and results each device's own arrays, as JAX has them? Those
  /// that are sharded as unreduced are summands then, and where the program leaves
  /// it open how one is sharded, all its blocks are full. Else they are given and
  /// taken whole.
  bool devicePorts = false;
  std::string function = "main";
};

/// A function that a file says is a step of a model.
struct StepFunction {
  std::string name;  ///< of the function
  std::string kind;  ///< train, evaluate or predict
  int64_t batch = 0; ///< samples
};
/// In the order of the file; none in other programs.
llvm::SmallVector<StepFunction> stepFunctions(mlir::ModuleOp program);

/// How many devices the mesh of the program's shardings has; 1 without one, 0
/// where it is refused.
int64_t deviceCount(mlir::ModuleOp program);

/// Null after an error at the op that it names.
mlir::OwningOpRef<mlir::ModuleOp> import(mlir::ModuleOp program,
                                         const ImportOptions &options);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_IMPORT_H
