//===- WindowOps.h - convolution and pooling --------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_OPS_WINDOWOPS_H
#define WEFT_DIALECTS_WEFT_OPS_WINDOWOPS_H

#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/Windows.h"

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/WindowOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_OPS_WINDOWOPS_H
