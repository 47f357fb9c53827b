//===- Passes.h - passes on training steps ----------------------*- C++ -*-===//

#ifndef WEFT_PASSES_TRAINING_PASSES_H
#define WEFT_PASSES_TRAINING_PASSES_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

/// On a module: the number of microbatches in which weft-divide-batch divides
/// the batch (i64).
inline constexpr llvm::StringLiteral kMicrobatchesAttr = "weft.microbatches";
/// On a module: whether a microbatch may use statistics of its own samples
/// instead of the batch's (unit).
inline constexpr llvm::StringLiteral kMicrobatchStatisticsAttr =
    "weft.microbatch_statistics";
/// On a module: the pipeline that weft-pipeline-stages makes of microbatches, as
/// {axis = "stage", schedule = "1f1b"}; instead of the name the text of a file.
inline constexpr llvm::StringLiteral kPipelineAttr = "weft.pipeline";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "weft/passes/training/Passes.h.inc"

} // namespace weft

#endif // WEFT_PASSES_TRAINING_PASSES_H
