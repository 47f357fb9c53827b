//===- ContractionInterface.h - ops that are contractions -------*- C++ -*-===//

#ifndef WEFT_DIALECTS_NEST_CONTRACTIONINTERFACE_H
#define WEFT_DIALECTS_NEST_CONTRACTIONINTERFACE_H

#include "weft/dialects/nest/ContractionShape.h"

#include "weft/dialects/nest/Contraction.h.inc"

#endif // WEFT_DIALECTS_NEST_CONTRACTIONINTERFACE_H
