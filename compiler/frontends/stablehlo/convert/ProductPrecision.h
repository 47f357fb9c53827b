//===- ProductPrecision.h - how exact products are asked to be --*- C++ -*-===//
//
//   precision = [HIGHEST, DEFAULT]                                 highest
//   algorithm = <lhs_precision_type = tf32, ..., accumulation_type = f32>  tf32
//   algorithm = <lhs_precision_type = bf16, ..., accumulation_type = f32>  tf32
//   algorithm = <... num_primitive_operations = 3 ...>             highest
//
// Products are at least as exact as requested: operands that tf32 does not
// represent exactly are multiplied as f32.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PRODUCTPRECISION_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PRODUCTPRECISION_H

#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"
#include "weft/dialects/weft/Weft.h"

namespace weft::stablehlo {

struct ProductPrecision {
  Precision precision; ///< the higher one of both operands
  mlir::Type sums;     ///< the type of sums, at least as wide as the result
};
/// The precision of a contraction or convolution; an error for unknown words.
mlir::FailureOr<ProductPrecision> productPrecisionOf(ForeignOp op);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PRODUCTPRECISION_H
