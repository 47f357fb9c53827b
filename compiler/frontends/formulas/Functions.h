//===- Functions.h - functions of real numbers without an op ----*- C++ -*-===//
//
//   Tensor y = formulas::asin(x);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_FORMULAS_FUNCTIONS_H
#define WEFT_COMPILER_FRONTENDS_FORMULAS_FUNCTIONS_H

#include "weft/dialects/weft/Tensor.h"

namespace weft::formulas {

/// The functions of chlo, which JAX's programs call and Keras' operations are on
/// JAX (RealFunctions.cpp, GammaFunctions.cpp).
Tensor acos(Tensor x);
Tensor acosh(Tensor x);
Tensor asin(Tensor x);
Tensor asinh(Tensor x);
Tensor atan(Tensor x);
Tensor atanh(Tensor x);
Tensor cosh(Tensor x);
Tensor sinh(Tensor x);
Tensor erfInv(Tensor x);
Tensor besselI1e(Tensor x);
/// log |Gamma(x)|.
Tensor lgamma(Tensor x);
/// The derivative of lgamma.
Tensor digamma(Tensor x);
/// Hurwitz' zeta function for x > 1: the sum over k of (q + k)^-x.
Tensor zeta(Tensor x, Tensor q);
/// The n-th derivative of digamma, for integers n.
Tensor polygamma(Tensor n, Tensor x);

} // namespace weft::formulas

#endif // WEFT_COMPILER_FRONTENDS_FORMULAS_FUNCTIONS_H
