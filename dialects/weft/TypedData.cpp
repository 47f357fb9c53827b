//===- TypedData.cpp - ops whose attributes repeat a result's type --------===//

#include "weft/dialects/weft/TypedData.h"

#include "weft/dialects/weft/TypedData.cpp.inc"
