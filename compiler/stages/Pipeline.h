//===- Pipeline.h - the way from one stage to another ---------*- C++ -*-===//
//
//   weft::buildPipeline(pm, options, Stage::imported, Stage::plan);
//
// adds every pass between the two, with the border's verifier after each stage.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_STAGES_PIPELINE_H
#define WEFT_COMPILER_STAGES_PIPELINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

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

struct PipelineOptions {
  bool verifyBorders = true; ///< weft-verify-layouts around `sharded`
};

/// Adds the passes after `from` up to and including `to`.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options,
                   Stage from, Stage to);

/// `weft-opt --weft-pipeline="from=imported to=plan"`.
void registerPipelines();

} // namespace weft

#endif // WEFT_COMPILER_STAGES_PIPELINE_H
