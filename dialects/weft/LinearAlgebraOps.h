//===- LinearAlgebraOps.h - factorisation and solving -----------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS_H
#define WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS_H

#include "weft/dialects/weft/Weft.h"

#define GET_OP_CLASSES
#include "weft/dialects/weft/LinearAlgebraOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS_H
