//===- ProductPrecision.h - how exact products are asked to be --*- C++ -*-===//
//
//   precision = [HIGHEST, DEFAULT]                                 highest
//   algorithm = <lhs_precision_type = tf32, ..., accumulation_type = f32>  tf32
//   algorithm = <lhs_precision_type = bf16, ..., accumulation_type = f32>  tf32
//   algorithm = <... num_primitive_operations = 3 ...>             highest
//
// Weft is at least as exact as it is asked to be: what a product by tf32 has not
// all bits of is multiplied with all of f32.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PRODUCTPRECISION_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PRODUCTPRECISION_H

#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"
#include "weft/dialects/weft/Weft.h"

namespace weft::stablehlo {

struct ProductPrecision {
  Precision precision; ///< the higher one of its operands' where they differ
  mlir::Type sums;     ///< in which to add up: the result's elements, or wider
};
/// Of a contraction or convolution; an error for words that are not known.
mlir::FailureOr<ProductPrecision> productPrecisionOf(ForeignOp op);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PRODUCTPRECISION_H
