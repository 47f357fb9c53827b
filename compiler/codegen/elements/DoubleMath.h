//===- DoubleMath.h - f64 functions in arithmetic ---------------*- C++ -*-===//
//
// Functions on f64 for processors without a math library: GPUs. Each is
// accurate to a few units in the last place; sin, cos and tan for |x| up to
// 2^40. Exponentials and logarithms are vectors on CPUs, where a library has
// one number a call.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_DOUBLEMATH_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_DOUBLEMATH_H

#include "mlir/IR/PatternMatch.h"

namespace weft::elements {

/// Adds patterns that replace exponentials, logarithms and tanh of f64 by
/// arithmetic without loops, which fused multiply-adds make faster only.
void populateDoubleExponentialPatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns that replace the functions of math on f64, and the remainders
/// of all floats, by arithmetic with fused multiply-adds and loops.
void populateDoubleMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_DOUBLEMATH_H
