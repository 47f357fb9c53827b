//===- TypedData.h - ops whose attributes repeat a result's type ----------===//
//
//   %0 = arith.constant dense<1.0> : tensor<4xf32, #layout>
//
// has data of that type and a result of that type, so both must change
// together.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_TYPEDDATA_H
#define WEFT_DIALECTS_WEFT_TYPEDDATA_H

#include "mlir/IR/OpDefinition.h"

#include "weft/dialects/weft/TypedData.h.inc"

#endif // WEFT_DIALECTS_WEFT_TYPEDDATA_H
