//===- FlowOps.h - loops, branches, recomputation ---------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_OPS_FLOWOPS_H
#define WEFT_DIALECTS_WEFT_OPS_FLOWOPS_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace weft {
class FoldOp; // weft.yield names this class as a parent.
} // namespace weft

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/FlowOps.h.inc"

namespace weft {
/// Inlines a region in place of the op that holds it, which is erased; `inputs`
/// replace the region's arguments, and the values that it yields the op's
/// results.
void inlineRegion(mlir::Operation *op, mlir::Region &region,
                  mlir::ValueRange inputs);
} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_FLOWOPS_H
