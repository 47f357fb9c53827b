//===- VerifyStage.h - invariants at the borders of stages ------*- C++ -*-===//
//
// A module that claims to be at stage `partitioned` but still has
//
//   %1 = weft.reshard %0 : tensor<8x10xf32, #p> -> tensor<8x10xf32, #x>
//
// is refused: "stage 'partitioned': 'weft.reshard' has a layout in a type,
// which only the stage 'sharded' allows; ...". buildPipeline() adds this check
// before the first stage and after every stage, beside MLIR's own verifier.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_STAGES_VERIFYSTAGE_H
#define WEFT_COMPILER_STAGES_VERIFYSTAGE_H

#include "weft/compiler/stages/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

/// Emits an error on the first op that the stage does not allow, or whose sizes
/// are refused (VerifySizes.h).
llvm::LogicalResult verifyStage(mlir::ModuleOp module, Stage stage);

/// Creates `weft-verify-stage{stage=NAME}`.
///
/// Requires: nothing. Ensures: nothing changes; an error names the op and the
/// stage. Example: test/pipeline/borders.mlir
std::unique_ptr<mlir::Pass> createVerifyStagePass(Stage stage);
void registerVerifyStagePass();

} // namespace weft

#endif // WEFT_COMPILER_STAGES_VERIFYSTAGE_H
