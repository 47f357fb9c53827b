//===- AccurateMath.h - f32 functions exact to a unit or two ----*- C++ -*-===//
//
// MLIR's polynomials of math.sin and math.cos reduce their argument in one f32
// step: sin(1e5) is wrong in the third digit, sin(-1e-30) is 6e-8. The
// polynomials of atan, atan2 and cbrt err by 10 to 40 units in the last place,
// and math.powf has none. The patterns here reduce in f64, which has enough
// digits for an f32:
//
//   math.sin %x : f32    k = round(x * 2/pi), r = x - k * pi/2 in f64;
//                        +-sin(r) or +-cos(r) by k mod 4, polynomials in f32
//   math.powf %x, %y     2^(y log2 |x|) in f64, rounded once; C's special cases
//
// The code has no branches, so LLVM vectorizes it; kernels of CPUs and GPUs use
// the same.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_ACCURATEMATH_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_ACCURATEMATH_H

#include "mlir/IR/PatternMatch.h"

namespace weft::elements {

/// Adds patterns that replace math.sin, cos, tan (|x| up to 2^50), atan, atan2,
/// cbrt and powf of f32.
void populateAccurateMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ACCURATEMATH_H
