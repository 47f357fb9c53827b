//===- PlanInstruction.h - ops that become one instruction ------*- C++ -*-===//
//
//   %1 = coll.all_reduce sum %0 over #mesh ["x"] : tensor<4xf32>
//
// creates, where %0 and %1 have the buffers %a and %b,
//
//   plan.all_reduce sum %a to %b over #group : memref<4xf32> to memref<4xf32>
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_PLAN_PLANINSTRUCTION_H
#define WEFT_DIALECTS_PLAN_PLANINSTRUCTION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"

#include "weft/dialects/plan/PlanInstruction.h.inc"

#endif // WEFT_DIALECTS_PLAN_PLANINSTRUCTION_H
