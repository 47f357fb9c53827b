//===- Sharing.h - buffers that devices of one process share ----*- C++ -*-===//
//
// Devices of one process share memory. What is equal on devices that differ
// along some axes only is stored once for those of one process, and computed
// once:
//
//   %w = plan.input "w" ... {plan.shared = #over_batch}
//   %x = plan.input "x" ...
//   %g = plan.buffer offset 0 : memref<4xf32>
//   %s = plan.buffer offset 0 {plan.shared = #over_batch, plan.shared_offset = 0}
//   %0 = plan.start "all_reduce" #plan.combination<sum> (%g) to (%s) over #over_batch
//   plan.wait %0
//   plan.launch @sub(%w, %s, %w) {plan.shared = #over_batch}
//
// Every device may read %w and %s whenever its instructions do. The devices that
// share them wait for each other at an instruction that writes them: all have
// come to it before it runs, and none goes on before it has ended.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_PLAN_SHARING_H
#define WEFT_DIALECTS_PLAN_SHARING_H

#include "weft/dialects/plan/Plan.h"

namespace weft::plan {

/// The attribute of a buffer or port that devices of one process share, and of
/// a launch or copy that is done once for them: the digits in which these
/// devices differ, a layout of rank 1. Before buffers are placed it is on
/// arguments and results of a function, and on ops whose results are shared.
inline constexpr llvm::StringLiteral kSharedAttr = "plan.shared";

/// The attribute of a plan.buffer that is shared with its offset (i64) in the
/// memory of the devices that share it. Where each device is on its own, it is
/// at `offset` of the arena, where another buffer may be as long as it is dead.
inline constexpr llvm::StringLiteral kSharedOffsetAttr = "plan.shared_offset";

/// The axes over which a buffer is shared; null for a buffer of each device.
LayoutAttr sharedOver(mlir::Value buffer);
/// Checks what writes shared buffers: (C4) to (C6) of plan.program.
llvm::LogicalResult checkSharing(ProgramOp program);

} // namespace weft::plan

#endif // WEFT_DIALECTS_PLAN_SHARING_H
