//===- FoldOps.h - reductions by a given body -------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_OPS_FOLDOPS_H
#define WEFT_DIALECTS_WEFT_OPS_FOLDOPS_H

#include "weft/dialects/weft/Weft.h"

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/FoldOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_OPS_FOLDOPS_H
