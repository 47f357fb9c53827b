//===- PlannedFlow.h - loops, branches and data of a plan -------*- C++ -*-===//
//
//   if (auto loop = dyn_cast<PlannedLoopOpInterface>(op))
//     assignBlock(loop.getConditionBlock());
//
// The planning passes know what they keep of a step's flow by these interfaces
// alone. weft.while, weft.case with two regions, weft.at, weft.constant and weft.lapack have
// them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_PLANNEDFLOW_H
#define WEFT_DIALECTS_WEFT_PLANNEDFLOW_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/OpDefinition.h"

#include "weft/dialects/weft/PlannedFlow.h.inc"

namespace weft {

/// Attaches the interfaces to the weft dialect's ops.
void attachPlannedFlow(mlir::MLIRContext &context);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_PLANNEDFLOW_H
