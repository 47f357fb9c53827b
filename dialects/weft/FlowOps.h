//===- FlowOps.h - loops, branches, recomputation --------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_FLOWOPS_H
#define WEFT_DIALECTS_WEFT_FLOWOPS_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

#define GET_OP_CLASSES
#include "weft/dialects/weft/FlowOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_FLOWOPS_H
