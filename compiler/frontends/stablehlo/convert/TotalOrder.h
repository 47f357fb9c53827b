//===- TotalOrder.h - floats in total order as integers ---------*- C++ -*-===//
//
//   -NaN < -inf < ... < -1 < ... < -0 < 0 < ... < 1 < ... < inf < NaN
//
// The total order of floats is that of signed integers of the same width. These
// are the bits of the floats; if the sign is set, all other bits are inverted.
// The function is its own inverse.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_TOTALORDER_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_TOTALORDER_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

namespace weft::stablehlo {

/// Converts a tensor of floats to the integers.
Value toTotalOrder(Converter &c, ForeignOp op, Value floats);
/// Converts the integers back to floats.
Value fromTotalOrder(Converter &c, ForeignOp op, Value integers,
                     mlir::Type elementType);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_TOTALORDER_H
