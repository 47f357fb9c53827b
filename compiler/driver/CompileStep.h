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

/// How far a compilation came.
struct Progress {
  Stage reached = Stage::imported; ///< the last stage that was reached
  /// Whether a pass refused the program with an error, or a size in it is too
  /// large; not for a failed verifier, which is an internal failure.
  bool isRefused = false;
  /// Set at stage `scheduled`, if fixes may be searched, to the costs that they
  /// are compared with; none if a device's memory is limited, where the plan's
  /// costs are compared.
  std::optional<Explanation> scheduled;
};

struct CompileOptions {
  Stage from = Stage::imported;
  std::string target = "native"; ///< one of knownTargets()
  /// A generator opened for `target`, which callers keep for many programs;
  /// null: one is opened for this program.
  KernelCodegen *generator = nullptr;
  /// Passes made for the module's context, which callers keep for many
  /// programs; null: they are made for this program.
  StagePasses *passes = nullptr;
  std::string cacheDirectory;      ///< kernel objects; empty: no cache
  int threads = 0;                 ///< 0: one for each core
  bool timing = false;             ///< print a report of the passes to stderr
  std::string metadata;            ///< copied into the plan
  Progress *progress = nullptr;    ///< kept up to date
  std::vector<std::string> expect; ///< budgets besides the module's own
  int64_t memory = 0; ///< bytes of a device; 0: the module's weft.memory
  /// Microbatches of each step that starts at stage `imported`; 1: the whole
  /// batch at once.
  int64_t microbatches = 1;
  bool allowMicrobatchStatistics = false; ///< kMicrobatchStatisticsAttr
  /// "auto", "on" or "off" (kOverlapAttr); empty: the module's.
  std::string overlap;
  /// Likewise (kRingsAttr).
  std::string rings;
  /// The precision "f32" or "tf32" (nest::kPrecisionAttr); empty: the module's.
  std::string matmulPrecision;
  /// Searches fixes if a budget is exceeded; gets Progress::scheduled.
  std::function<void(Explanation &, const std::optional<Explanation> &)>
      findFixes;
  FixLimits fixLimits; ///< limits of each search
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

/// How a compilation ended. Internal: a pass or verifier failed on a program
/// that no pass refused. OverBudget: all passes ran, and a budget is exceeded or
/// the target has no code for a kernel; the error has been reported.
enum class Outcome { Done, Refused, OverBudget, Internal };

struct Attempt {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Outcome outcome = Outcome::Refused;
  Progress progress;
  std::vector<uint8_t> image; ///< what attemptProgram() compiled
};

/// Runs the passes of a module up to `to`. The module is not null.
Attempt attemptStage(mlir::OwningOpRef<mlir::ModuleOp> module,
                     const CompileOptions &options, Stage to);
/// Compiles a module to the bytes of a .weft file. The module is not null.
Attempt attemptProgram(mlir::OwningOpRef<mlir::ModuleOp> module,
                       const CompileOptions &options);

/// Prints the assembly text of the kernels of these names (none: all). The
/// module ends at stage `nests`.
llvm::FailureOr<std::string>
printKernelAssembly(mlir::ModuleOp module, const CompileOptions &options,
                    llvm::ArrayRef<std::string> names);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_COMPILESTEP_H
