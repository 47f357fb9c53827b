//===- ScanOps.h - cumulative ops and orders --------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_OPS_SCANOPS_H
#define WEFT_DIALECTS_WEFT_OPS_SCANOPS_H

#include "weft/dialects/weft/Weft.h"

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/ScanOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_OPS_SCANOPS_H
