//===- Tensor.h - formulas over tensors --------------------------*- C++ -*-===//
//
// Front ends write functions without an op in weft by operators on Tensor, and
// so are derivatives written:
//
//   Tensor asin(Tensor x) {
//     return 2 * atan2(x, 1 + sqrt((1 - x) * (1 + x)));
//   }
//
// builds seven ops on every element. As in NumPy a number takes the type and
// shape of the other operand, and a scalar its shape; other shapes must be the
// same, and types always.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_TENSOR_H
#define WEFT_DIALECTS_WEFT_TENSOR_H

#include "weft/dialects/weft/Weft.h"

#include <limits>
#include <numbers>

namespace weft::formulas {

inline constexpr double kPi = std::numbers::pi,
                        kNan = std::numeric_limits<double>::quiet_NaN(),
                        kInfinity = std::numeric_limits<double>::infinity();

/// The number as an integer of this type, modulo its width.
llvm::APInt integerOf(double number, mlir::Type element);

class Condition;

/// A value and the place where ops on it are built, or no value.
class Tensor {
public:
  Tensor() = default;
  Tensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}
  /// A constant of which every element is the number.
  static Tensor splat(mlir::OpBuilder &builder, mlir::Location loc,
                      double number, mlir::RankedTensorType type);

  mlir::Value get() const { return value; }
  operator mlir::Value() const { return value; }
  explicit operator bool() const { return bool(value); }
  /// Whether both are one value. (a == b compares elements.)
  bool is(mlir::Value other) const { return value == other; }

  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  mlir::Type elementType() const { return type().getElementType(); }
  bool isDouble() const { return elementType().isF64(); }

  /// The number in each element of a tensor of the same type.
  Tensor number(double number) const {
    return splat(*builder, loc, number, type());
  }
  template <typename Op, typename... Args> Tensor make(Args... args) const {
    return made(Op::create(*builder, loc, value, args.get()...));
  }
  Tensor convert(mlir::Type element) const {
    return made(ConvertOp::create(*builder, loc, value, element));
  }
  /// A scalar in the shape of another tensor.
  Tensor filled(Tensor like) const;
  /// An op on elements of two tensors. A scalar takes the other's shape.
  template <typename Op> Tensor with(Tensor other) const {
    auto [a, b] = alike(*this, other);
    return a.template make<Op>(b);
  }
  Condition compare(CompareKind kind, Tensor other) const;
  Condition compare(CompareKind kind, double other) const;

private:
  Tensor made(mlir::Value result) const { return {*builder, loc, result}; }
  /// Two tensors of one shape.
  static std::pair<Tensor, Tensor> alike(Tensor a, Tensor b);

  mlir::OpBuilder *builder = nullptr;
  mlir::LocationAttr
      loc; ///< null, as builder and value, until there is a value
  mlir::Value value;
};

/// The result of a comparison of elements, which is no answer for an `if`.
class Condition : public Tensor {
public:
  explicit Condition(Tensor tensor) : Tensor(tensor) {}
  explicit operator bool() const = delete;
};

inline Condition Tensor::compare(CompareKind kind, Tensor other) const {
  auto [a, b] = alike(*this, other);
  return Condition(
      made(CompareOp::create(*builder, loc, kind, a.value, b.value)));
}
inline Condition Tensor::compare(CompareKind kind, double other) const {
  return compare(kind, number(other));
}

inline Tensor operator+(Tensor a, Tensor b) { return a.with<AddOp>(b); }
inline Tensor operator+(Tensor a, double b) { return a + a.number(b); }
inline Tensor operator+(double a, Tensor b) { return b.number(a) + b; }
inline Tensor operator-(Tensor a, Tensor b) { return a.with<SubOp>(b); }
inline Tensor operator-(Tensor a, double b) { return a - a.number(b); }
inline Tensor operator-(double a, Tensor b) { return b.number(a) - b; }
inline Tensor operator*(Tensor a, Tensor b) { return a.with<MulOp>(b); }
inline Tensor operator*(Tensor a, double b) { return a * a.number(b); }
inline Tensor operator*(double a, Tensor b) { return b.number(a) * b; }
inline Tensor operator/(Tensor a, Tensor b) { return a.with<DivOp>(b); }
inline Tensor operator/(Tensor a, double b) { return a / a.number(b); }
inline Tensor operator/(double a, Tensor b) { return b.number(a) / b; }
inline Tensor operator%(Tensor a, Tensor b) { return a.with<RemOp>(b); }
inline Tensor operator%(Tensor a, double b) { return a % a.number(b); }
inline Tensor operator-(Tensor a) { return a.make<NegOp>(); }

inline Condition operator<(Tensor a, Tensor b) {
  return a.compare(CompareKind::LT, b);
}
inline Condition operator<(Tensor a, double b) {
  return a.compare(CompareKind::LT, b);
}
inline Condition operator<=(Tensor a, Tensor b) {
  return a.compare(CompareKind::LE, b);
}
inline Condition operator<=(Tensor a, double b) {
  return a.compare(CompareKind::LE, b);
}
inline Condition operator>(Tensor a, Tensor b) {
  return a.compare(CompareKind::GT, b);
}
inline Condition operator>(Tensor a, double b) {
  return a.compare(CompareKind::GT, b);
}
inline Condition operator>=(Tensor a, Tensor b) {
  return a.compare(CompareKind::GE, b);
}
inline Condition operator>=(Tensor a, double b) {
  return a.compare(CompareKind::GE, b);
}
inline Condition operator==(Tensor a, Tensor b) {
  return a.compare(CompareKind::EQ, b);
}
inline Condition operator==(Tensor a, double b) {
  return a.compare(CompareKind::EQ, b);
}
inline Condition operator!=(Tensor a, Tensor b) {
  return a.compare(CompareKind::NE, b);
}
inline Condition operator!=(Tensor a, double b) {
  return a.compare(CompareKind::NE, b);
}

/// Of the bits of integers, or of truth values.
inline Tensor operator&(Tensor a, Tensor b) { return a.with<AndOp>(b); }
inline Tensor operator|(Tensor a, Tensor b) { return a.with<OrOp>(b); }
inline Tensor operator^(Tensor a, Tensor b) { return a.with<XorOp>(b); }
inline Tensor operator~(Tensor a) { return a.make<NotOp>(); }

/// The elements of `then` where a boolean tensor is true, and those of
/// `otherwise` elsewhere.
inline Tensor select(Tensor condition, Tensor then, Tensor otherwise) {
  return condition.make<SelectOp>(then, otherwise);
}
inline Tensor select(Tensor condition, Tensor then, double otherwise) {
  return select(condition, then, then.number(otherwise));
}
inline Tensor select(Tensor condition, double then, Tensor otherwise) {
  return select(condition, otherwise.number(then), otherwise);
}

/// Converts x to the element type; returns x itself if it has that type.
inline Tensor converted(Tensor x, mlir::Type element) {
  return x.elementType() == element ? x : x.convert(element);
}

inline Tensor complex(Tensor re, Tensor im) { return re.make<ComplexOp>(im); }
inline Tensor real(Tensor x) { return x.make<RealOp>(); }
inline Tensor imag(Tensor x) { return x.make<ImagOp>(); }
/// The conjugate; of real numbers x itself.
inline Tensor conj(Tensor x) {
  return llvm::isa<mlir::ComplexType>(x.elementType()) ? x.make<ConjOp>() : x;
}
inline Tensor abs(Tensor x) { return x.make<AbsOp>(); }
inline Tensor sign(Tensor x) { return x.make<SignOp>(); }
inline Tensor ceil(Tensor x) { return x.make<CeilOp>(); }
inline Tensor floor(Tensor x) { return x.make<FloorOp>(); }
inline Tensor round(Tensor x) { return x.make<RoundOp>(); }
inline Tensor roundEven(Tensor x) { return x.make<RoundEvenOp>(); }
inline Tensor sqrt(Tensor x) { return x.make<SqrtOp>(); }
inline Tensor cbrt(Tensor x) { return x.make<CbrtOp>(); }
inline Tensor rsqrt(Tensor x) { return x.make<RsqrtOp>(); }
inline Tensor exp(Tensor x) { return x.make<ExpOp>(); }
inline Tensor expm1(Tensor x) { return x.make<Expm1Op>(); }
inline Tensor log(Tensor x) { return x.make<LogOp>(); }
inline Tensor log1p(Tensor x) { return x.make<Log1pOp>(); }
inline Tensor sin(Tensor x) { return x.make<SinOp>(); }
inline Tensor cos(Tensor x) { return x.make<CosOp>(); }
inline Tensor tan(Tensor x) { return x.make<TanOp>(); }
inline Tensor tanh(Tensor x) { return x.make<TanhOp>(); }
inline Tensor erf(Tensor x) { return x.make<ErfOp>(); }
inline Tensor erfc(Tensor x) { return x.make<ErfcOp>(); }
inline Tensor relu(Tensor x) { return x.make<ReluOp>(); }
inline Tensor logistic(Tensor x) { return x.make<LogisticOp>(); }
inline Tensor pow(Tensor x, Tensor y) { return x.with<PowOp>(y); }
inline Tensor pow(double x, Tensor y) { return pow(y.number(x), y); }
inline Tensor pow(Tensor x, double y) { return pow(x, x.number(y)); }
inline Tensor atan2(Tensor y, Tensor x) { return y.with<Atan2Op>(x); }
inline Tensor max(Tensor x, Tensor y) { return x.with<MaxOp>(y); }
inline Tensor max(Tensor x, double least) { return max(x, x.number(least)); }
inline Tensor min(Tensor x, Tensor y) { return x.with<MinOp>(y); }
inline Tensor min(Tensor x, double most) { return min(x, x.number(most)); }

} // namespace weft::formulas

#endif // WEFT_DIALECTS_WEFT_TENSOR_H
