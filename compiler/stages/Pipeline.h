//===- Pipeline.h - the way from one stage to another -----------*- C++ -*-===//
//
//   weft::buildPipeline(pm, options, Stage::imported, Stage::plan);
//
// adds every pass between the two. The conditions of a stage in Stages.def are
// verified before the first pass and after each stage (VerifyStage.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_STAGES_PIPELINE_H
#define WEFT_COMPILER_STAGES_PIPELINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace weft {

enum class Stage {
#define WEFT_STAGE(name, description, holds) name,
#include "weft/compiler/stages/Stages.def"
};

struct StageInfo {
  Stage stage;
  llvm::StringRef name, description, holds;
};
/// All stages in order.
llvm::ArrayRef<StageInfo> stages();
/// The stage with that name, or nothing.
std::optional<Stage> parseStage(llvm::StringRef name);
/// The error for an unknown name: "no such stage: 'x'; use one of imported,
/// ...".
std::string unknownStage(llvm::StringRef name);
/// The reason why no passes lead from one stage to the other, or empty.
std::string invalidOrder(Stage from, Stage to);

struct PipelineOptions {
  /// Whether to add weft-verify-stage after each stage, and weft-verify-layouts
  /// after `sharded`.
  bool verifyBorders = true;
  /// Whether to verify before the first pass, too.
  bool verifyInput = true;
  /// Whether to add weft-check-budget after `plan`.
  bool checkBudget = true;
  /// The target of kernels and their loop nests (nest::targetLimits).
  std::string target = "cpu:generic";
};

/// Adds the passes after `from` up to and including `to`.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options,
                   Stage from, Stage to);

/// Registers `weft-opt --weft-pipeline="from=imported to=plan"`, and the passes
/// weft-verify-stage and weft-check-budget.
void registerPipelines();

} // namespace weft

#endif // WEFT_COMPILER_STAGES_PIPELINE_H
