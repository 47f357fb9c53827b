//===- StagePasses.h - the passes of each stage, kept -----------*- C++ -*-===//
//
//   StagePasses passes(&context);        // kept for many programs
//   bool isDone = succeeded(passes.reach(Stage::kernels, Stage::nests, false, "cpu:avx2").run(module));
//
// Making a canonicalizer, with the patterns of all ops of the context, takes
// several times as long as running it on a program of a few ops.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_STAGES_STAGEPASSES_H
#define WEFT_COMPILER_STAGES_STAGEPASSES_H

#include "weft/compiler/stages/Pipeline.h"

#include <atomic>
#include <map>
#include <memory>
#include <tuple>

namespace mlir {
class MLIRContext;
class PassManager;
} // namespace mlir

namespace weft {

/// The passes of one context. One thread uses it at a time.
class StagePasses {
public:
  explicit StagePasses(mlir::MLIRContext *context);
  ~StagePasses();
  /// The passes after `from` up to and including `to`, which make kernels for
  /// `target` (PipelineOptions). They verify the stages' conditions, those of
  /// `from` only if `verifyInput`; the caller runs MLIR's verifier and
  /// checkBudget() after them.
  mlir::PassManager &reach(Stage from, Stage to, bool verifyInput,
                           llvm::StringRef target);
  /// Whether a pass that emitted an error caused the last failure, and not a
  /// verifier at a stage's border.
  bool refused() const { return hasRefused; }

private:
  std::atomic<bool> hasRefused = false;
  mlir::MLIRContext *context;
  std::map<std::tuple<Stage, Stage, bool, std::string>,
           std::unique_ptr<mlir::PassManager>>
      made;
};

} // namespace weft

#endif // WEFT_COMPILER_STAGES_STAGEPASSES_H
