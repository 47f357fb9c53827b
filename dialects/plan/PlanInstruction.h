//===- PlanInstruction.h - ops that become one instruction ------*- C++ -*-===//
//
//   %1 = coll.all_reduce sum %0 over #mesh ["x"] : tensor<4xf32>
//
// becomes, where %0 and %1 have the buffers %a and %b,
//
//   %2 = plan.start "all_reduce" #plan.combination<sum> (%a) to (%b)
//        over #group : (memref<4xf32>) to (memref<4xf32>)
//   plan.wait %2
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_PLAN_PLANINSTRUCTION_H
#define WEFT_DIALECTS_PLAN_PLANINSTRUCTION_H

#include "weft/dialects/plan/PlanAttributes.h"

#include "weft/dialects/plan/PlanInstruction.h.inc"

#endif // WEFT_DIALECTS_PLAN_PLANINSTRUCTION_H
