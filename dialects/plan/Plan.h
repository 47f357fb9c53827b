//===- Plan.h - the plan dialect --------------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_PLAN_PLAN_H
#define WEFT_DIALECTS_PLAN_PLAN_H

#include "weft/dialects/weft/Weft.h"

#include "weft/dialects/plan/PlanDialect.h.inc"
#define GET_OP_CLASSES
#include "weft/dialects/plan/PlanOps.h.inc"

namespace weft::plan {
/// What a plan.collective may be: all_reduce, all_gather, ...
llvm::ArrayRef<llvm::StringLiteral> collectiveKinds();
} // namespace weft::plan

#endif // WEFT_DIALECTS_PLAN_PLAN_H
