//===- Plan.h - the plan dialect --------------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_PLAN_PLAN_H
#define WEFT_DIALECTS_PLAN_PLAN_H

#include "weft/dialects/plan/PlanInstruction.h"

#include "weft/dialects/plan/PlanDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "weft/dialects/plan/PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "weft/dialects/plan/PlanOps.h.inc"

namespace weft::plan {
/// The attribute of a kernel function: bytes of scratch memory for a launch
/// (i64).
inline constexpr llvm::StringLiteral kScratchAttr = "weft.scratch";

/// The attribute of a kernel that a library of the device may compute: a
/// ContractionAttr.
inline constexpr llvm::StringLiteral kLibraryAttr = "plan.library";

/// The attribute of a kernel (a function or an op of this dialect) with an
/// estimate of the operations of a launch (f64), for profiles.
inline constexpr llvm::StringLiteral kOperationsAttr = "plan.operations";

/// Whether the bias of each column is added to the sums.
bool hasBias(Epilogue epilogue);
/// Bytes of scratch memory that a launch of the kernel (a function or an op of
/// this dialect) needs; 0 without the attribute.
int64_t scratchBytes(mlir::Operation *kernel);
/// Whether a device executes the op of a program: it is neither a buffer nor a
/// label.
bool isInstruction(mlir::Operation &op);
/// Creates the start of the collective that an op becomes. `sources` are the
/// buffers of its operands, `targets` those of its results. `times` says how
/// often it happens in a step: 0 that nobody knows, null once.
StartOp createStart(mlir::OpBuilder &builder, PlanInstructionOpInterface op,
                    mlir::ValueRange sources, mlir::ValueRange targets,
                    mlir::IntegerAttr times);
/// The op that waits for a collective of a function; null where the plan waits
/// for it at once.
AwaitOp awaitOf(mlir::Operation *collective);
/// The collective whose results an op has: itself, or, of a branch with two
/// regions, the one that the first region consists of. Null if there is none.
mlir::Operation *collectiveOf(mlir::Operation *op);
/// The collective for which an op of a function waits; null for other ops.
mlir::Operation *awaitedBy(mlir::Operation *op);
/// (C7) Checks that what collectives under way use is left alone.
llvm::LogicalResult checkInFlight(ProgramOp program);
} // namespace weft::plan

#endif // WEFT_DIALECTS_PLAN_PLAN_H
