//===- RealTensor.h - formulas over tensors of real numbers -----*- C++ -*-===//
//
// Private to the front ends. JAX's programs and Keras' models use functions
// without an op in weft. Operators on RealTensor write their formulas:
//
//   RealTensor asin(RealTensor x) {
//     return 2 * atan2(x, 1 + sqrt((1 - x) * (1 + x)));
//   }
//
// builds seven ops on every element. Numbers stand for splats of the same type.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_FORMULAS_REALTENSOR_H
#define WEFT_COMPILER_FRONTENDS_FORMULAS_REALTENSOR_H

#include "weft/dialects/weft/Weft.h"

#include <limits>
#include <numbers>

namespace weft::formulas {

inline constexpr double kPi = std::numbers::pi,
                        kNan = std::numeric_limits<double>::quiet_NaN(),
                        kInfinity = std::numeric_limits<double>::infinity();

/// A value of element type f32 or f64, or i1 for a condition, and the place
/// where ops on it are built.
class RealTensor {
public:
  RealTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  mlir::Value get() const { return value; }
  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  bool isDouble() const { return type().getElementType().isF64(); }

  /// A splat of the number.
  RealTensor number(double number) const {
    return made(ConstantOp::create(*builder, loc, splatData(number, type())));
  }
  template <typename Op, typename... Args> RealTensor make(Args... args) const {
    return made(Op::create(*builder, loc, value, args.get()...));
  }
  RealTensor compare(CompareKind kind, RealTensor other) const {
    return made(CompareOp::create(*builder, loc, kind, value, other.value));
  }
  /// Selects `then` where this boolean tensor is true, and `otherwise`
  /// elsewhere.
  RealTensor select(RealTensor then, RealTensor otherwise) const {
    return make<SelectOp>(then, otherwise);
  }

private:
  RealTensor made(mlir::Value result) const { return {*builder, loc, result}; }

  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;
};

inline RealTensor operator+(RealTensor a, RealTensor b) {
  return a.make<AddOp>(b);
}
inline RealTensor operator-(RealTensor a, RealTensor b) {
  return a.make<SubOp>(b);
}
inline RealTensor operator*(RealTensor a, RealTensor b) {
  return a.make<MulOp>(b);
}
inline RealTensor operator/(RealTensor a, RealTensor b) {
  return a.make<DivOp>(b);
}
inline RealTensor operator+(RealTensor a, double b) { return a + a.number(b); }
inline RealTensor operator-(RealTensor a, double b) { return a - a.number(b); }
inline RealTensor operator*(RealTensor a, double b) { return a * a.number(b); }
inline RealTensor operator/(RealTensor a, double b) { return a / a.number(b); }
inline RealTensor operator+(double a, RealTensor b) { return b.number(a) + b; }
inline RealTensor operator-(double a, RealTensor b) { return b.number(a) - b; }
inline RealTensor operator*(double a, RealTensor b) { return b.number(a) * b; }
inline RealTensor operator/(double a, RealTensor b) { return b.number(a) / b; }
inline RealTensor operator-(RealTensor a) { return a.make<NegOp>(); }

inline RealTensor operator<(RealTensor a, double b) {
  return a.compare(CompareKind::LT, a.number(b));
}
inline RealTensor operator<=(RealTensor a, double b) {
  return a.compare(CompareKind::LE, a.number(b));
}
inline RealTensor operator>(RealTensor a, double b) {
  return a.compare(CompareKind::GT, a.number(b));
}
inline RealTensor operator==(RealTensor a, double b) {
  return a.compare(CompareKind::EQ, a.number(b));
}
inline RealTensor operator==(RealTensor a, RealTensor b) {
  return a.compare(CompareKind::EQ, b);
}
inline RealTensor operator&(RealTensor a, RealTensor b) {
  return a.make<AndOp>(b);
}

inline RealTensor abs(RealTensor x) { return x.make<AbsOp>(); }
inline RealTensor sign(RealTensor x) { return x.make<SignOp>(); }
inline RealTensor floor(RealTensor x) { return x.make<FloorOp>(); }
inline RealTensor sqrt(RealTensor x) { return x.make<SqrtOp>(); }
inline RealTensor exp(RealTensor x) { return x.make<ExpOp>(); }
inline RealTensor expm1(RealTensor x) { return x.make<Expm1Op>(); }
inline RealTensor log(RealTensor x) { return x.make<LogOp>(); }
inline RealTensor log1p(RealTensor x) { return x.make<Log1pOp>(); }
inline RealTensor sin(RealTensor x) { return x.make<SinOp>(); }
inline RealTensor cos(RealTensor x) { return x.make<CosOp>(); }
inline RealTensor erf(RealTensor x) { return x.make<ErfOp>(); }
inline RealTensor pow(RealTensor x, RealTensor y) { return x.make<PowOp>(y); }
inline RealTensor atan2(RealTensor y, RealTensor x) {
  return y.make<Atan2Op>(x);
}
inline RealTensor max(RealTensor x, double least) {
  return x.make<MaxOp>(x.number(least));
}

/// The functions of chlo, which JAX's programs call and Keras' operations are on
/// JAX (RealFunctions.cpp, GammaFunctions.cpp).
RealTensor acos(RealTensor x);
RealTensor acosh(RealTensor x);
RealTensor asin(RealTensor x);
RealTensor asinh(RealTensor x);
RealTensor atan(RealTensor x);
RealTensor atanh(RealTensor x);
RealTensor cosh(RealTensor x);
RealTensor sinh(RealTensor x);
RealTensor erfInv(RealTensor x);
RealTensor besselI1e(RealTensor x);
/// log |Gamma(x)|.
RealTensor lgamma(RealTensor x);
/// The derivative of lgamma.
RealTensor digamma(RealTensor x);
/// Hurwitz' zeta function for x > 1: the sum over k of (q + k)^-x.
RealTensor zeta(RealTensor x, RealTensor q);
/// The n-th derivative of digamma, for integers n.
RealTensor polygamma(RealTensor n, RealTensor x);

} // namespace weft::formulas

#endif // WEFT_COMPILER_FRONTENDS_FORMULAS_REALTENSOR_H
