//===- Pipeline.h - the way from one stage to another -----------*- C++ -*-===//
//
//   weft::buildPipeline(pm, options, Stage::imported, Stage::plan);
//
// adds every pass between the two. What Stages.def says of a stage is verified
// in front of the first pass and after each stage (VerifyStage.h).
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
/// The stage of that name, or nothing.
std::optional<Stage> parseStage(llvm::StringRef name);
/// "no such stage: 'x'; use one of imported, ...".
std::string unknownStage(llvm::StringRef name);
/// The reason why no passes lead from one to the other, or empty.
std::string invalidOrder(Stage from, Stage to);

struct PipelineOptions {
  /// weft-verify-stage at each border, weft-verify-layouts around `sharded`.
  bool verifyBorders = true;
  /// In front of the first pass too.
  bool verifyInput = true;
  /// weft-check-budget behind `plan`.
  bool checkBudget = true;
  /// Kernels and their loop nests are made for it (nest::targetLimits).
  std::string target = "cpu:generic";
};

/// Adds the passes after `from` up to and including `to`.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options,
                   Stage from, Stage to);

/// `weft-opt --weft-pipeline="from=imported to=plan"`.
void registerPipelines();

} // namespace weft

#endif // WEFT_COMPILER_STAGES_PIPELINE_H
