//===- ElementTypes.cpp - which element types hold which others -----------===//

#include "weft/dialects/weft/ElementTypes.h"

using namespace mlir;
using llvm::APFloat;

/// Whether a wider float type represents a narrower type exactly. bf16, f16,
/// f32 and f64 have all that the narrower type may have: zeros of both signs,
/// infinities, NaN, subnormal numbers.
static bool isExactInFloat(FloatType from, FloatType to) {
  if (to.getWidth() < 16)
    return false;
  const llvm::fltSemantics &a = from.getFloatSemantics(),
                           &b = to.getFloatSemantics();
  auto least = [](const llvm::fltSemantics &x) {
    return APFloat::semanticsMinExponent(x) -
           static_cast<int>(APFloat::semanticsPrecision(x));
  };
  return APFloat::semanticsPrecision(a) <= APFloat::semanticsPrecision(b) &&
         APFloat::semanticsMaxExponent(a) <= APFloat::semanticsMaxExponent(b) &&
         least(a) >= least(b);
}

static bool isExactInInteger(IntegerType from, IntegerType to) {
  bool negative = !from.isUnsigned() && from.getWidth() > 1;
  return to.getWidth() > from.getWidth() && !(negative && to.isUnsigned());
}

bool weft::isExactIn(Type from, Type to) {
  if (from == to)
    return true;
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return isExactInFloat(cast<FloatType>(from), cast<FloatType>(to));
  return isa<IntegerType>(from) && isa<IntegerType>(to) &&
         isExactInInteger(cast<IntegerType>(from), cast<IntegerType>(to));
}
