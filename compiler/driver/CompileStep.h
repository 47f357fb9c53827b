//===- CompileStep.h - one step of a model to a program image ---*- C++ -*-===//
//
// The sequence from a module at some stage to the bytes of a .weft file. Front
// ends make the module; tools run the image or write it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_DRIVER_COMPILESTEP_H
#define WEFT_COMPILER_DRIVER_COMPILESTEP_H

#include "weft/compiler/explain/Budget.h"
#include "weft/compiler/explain/FindFixes.h"
#include "weft/compiler/stages/StagePasses.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace weft {

class KernelCodegen;

struct CompileOptions {
  Stage from = Stage::imported;
  std::string target = "native"; ///< one of knownTargets()
  /// A generator opened for `target`, which callers keep for many programs;
  /// null: one is opened for this program.
  KernelCodegen *generator = nullptr;
  /// Passes made for the module's context, which callers keep for many
  /// programs; null: they are made for this program.
  StagePasses *passes = nullptr;
  std::string cacheDirectory; ///< kernel objects; empty: no cache
  int threads = 0;            ///< 0: one for each core
  bool timing = false;        ///< print a report of the passes to stderr
  std::string metadata;       ///< copied into the plan
  Stage *reached = nullptr;   ///< set to each stage that is reached
  /// Set to true if a pass refuses the program with an error, or a size in it
  /// is too large; not for a failed verifier, which is an internal failure.
  bool *isRefused = nullptr;
  std::vector<std::string> expect; ///< budgets besides the module's own
  int64_t memory = 0; ///< bytes of a device; 0: the module's weft.memory
  /// The precision "f32" or "tf32" (nest::kPrecisionAttr); empty: the module's.
  std::string matmulPrecision;
  FixSearch findFixes; ///< searches fixes if a budget is exceeded
  FixLimits fixLimits; ///< of each search
  /// Set at stage `scheduled` to the costs that fixes are compared with. Stays
  /// empty if a device's memory is limited, where the plan's costs are compared.
  std::optional<Explanation> *scheduled = nullptr;
};

/// Runs the passes up to `to` in place.
llvm::LogicalResult runStages(mlir::ModuleOp module,
                              const CompileOptions &options, Stage to);

/// The costs of a step under a change of its annotations, without its budgets;
/// nothing if it does not compile. The module ends at stage `scheduled` or, where
/// a device's memory is limited and gathers may be repeated for it, at `plan`.
std::optional<Explanation> countStep(mlir::ModuleOp module,
                                     const CompileOptions &options);

/// Compiles to the bytes of a .weft file: shared object, plan, trailer. The
/// module ends at stage `plan`. Diagnostics go to the context's handler.
llvm::FailureOr<std::vector<uint8_t>>
compileProgram(mlir::ModuleOp module, const CompileOptions &options);

/// Prints the assembly text of the kernels of these names (none: all). The
/// module ends at stage `nests`.
llvm::FailureOr<std::string>
printKernelAssembly(mlir::ModuleOp module, const CompileOptions &options,
                    llvm::ArrayRef<std::string> names);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_COMPILESTEP_H
