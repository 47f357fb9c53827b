//===- Complex.cpp - the meaning of elementwise ops on complex numbers ----===//
//
// Meanings of complex ops, computed in double by std::complex (C99's branch
// cuts).
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/Weft.h"
#include "weft/passes/interpret/Meanings.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace weft {

namespace {

using Complex = std::complex<double>;
using Unary = Complex (*)(Complex);
using Binary = Complex (*)(Complex, Complex);

/// x / |x|; zeros and NaN stay.
Complex directionOf(Complex x) {
  double size = std::abs(x);
  return size == 0 ? x : x / size;
}

/// e^x - 1 without loss near 0.
Complex expm1(Complex x) {
  double half = std::sin(x.imag() / 2), grown = std::expm1(x.real());
  return {grown * std::cos(x.imag()) - 2 * half * half,
          x.imag() == 0 ? x.imag() : (grown + 1) * std::sin(x.imag())};
}

/// x^y; 0^y is 1 for y = 0, 0 for a positive y, and else NaN.
Complex powerOf(Complex x, Complex y) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (x != 0.0)
    return std::pow(x, y);
  bool isPositive = y.real() > 0 && y.imag() == 0;
  return y == 0.0 ? 1 : isPositive ? 0 : Complex(nan, nan);
}

/// log(1 + x) without loss near 0.
Complex log1p(Complex x) {
  double re = x.real(), im = x.imag();
  return {std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re)};
}

Unary unary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case<NegOp>([](auto) { return +[](Complex x) { return -x; }; })
      .Case<ConjOp>(
          [](auto) { return +[](Complex x) { return std::conj(x); }; })
      .Case<SignOp>([](auto) { return &directionOf; })
      .Case<ExpOp>([](auto) { return +[](Complex x) { return std::exp(x); }; })
      .Case<Expm1Op>([](auto) { return &expm1; })
      .Case<LogOp>([](auto) { return +[](Complex x) { return std::log(x); }; })
      .Case<Log1pOp>([](auto) { return &log1p; })
      .Case<SqrtOp>(
          [](auto) { return +[](Complex x) { return std::sqrt(x); }; })
      .Case<RsqrtOp>(
          [](auto) { return +[](Complex x) { return 1.0 / std::sqrt(x); }; })
      .Case<TanhOp>(
          [](auto) { return +[](Complex x) { return std::tanh(x); }; })
      .Case<LogisticOp>([](auto) {
        return +[](Complex x) { return 1.0 / (1.0 + std::exp(-x)); };
      })
      .Case<SinOp>([](auto) { return +[](Complex x) { return std::sin(x); }; })
      .Case<CosOp>([](auto) { return +[](Complex x) { return std::cos(x); }; })
      .Case<TanOp>([](auto) { return +[](Complex x) { return std::tan(x); }; })
      .Default([](auto) { return nullptr; });
}

Binary binary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case<AddOp>(
          [](auto) { return +[](Complex x, Complex y) { return x + y; }; })
      .Case<SubOp>(
          [](auto) { return +[](Complex x, Complex y) { return x - y; }; })
      .Case<MulOp>([](auto) { return &product; })
      .Case<DivOp>(
          [](auto) { return +[](Complex x, Complex y) { return x / y; }; })
      .Case<PowOp>([](auto) { return &powerOf; })
      .Default([](auto) { return nullptr; });
}

/// Results of ops from complex to real numbers or i1 (comparisons), and from
/// real to complex numbers; nothing for other ops.
std::optional<Tensor> acrossTypes(Operation *op, Operands in, Tensor result) {
  auto compare = dyn_cast<CompareOp>(op);
  if (!isa<AbsOp, RealOp, ImagOp, ComplexOp>(op) && !compare)
    return std::nullopt;
  for (int64_t i = 0; i < result.size(); ++i) {
    Complex x = in[0]->number(i);
    if (compare)
      result.setInteger(i, (x == in[1]->number(i)) ==
                               (compare.getKind() == CompareKind::EQ));
    else if (isa<ComplexOp>(op))
      result.setNumber(i, {in[0]->real(i), in[1]->real(i)});
    else
      result.setReal(i, isa<AbsOp>(op)    ? std::abs(x)
                        : isa<RealOp>(op) ? x.real()
                                          : x.imag());
  }
  return result;
}

} // namespace

std::optional<Tensor> meaningOfComplex(Operation *op, Operands in) {
  Tensor result(cast<RankedTensorType>(op->getResult(0).getType()));
  if (in[0]->isComplex() || isa<ComplexOp>(op))
    if (auto across = acrossTypes(op, in, result))
      return across;
  if (isa<ConjOp>(op) && !in[0]->isComplex())
    return *in[0];
  if (!result.isComplex() || !in[0]->isComplex())
    return std::nullopt;
  Unary one = unary(op);
  Binary two = binary(op);
  if (!one && !two)
    return std::nullopt;
  for (int64_t i = 0; i < result.size(); ++i)
    result.setNumber(i, one ? one(in[0]->number(i))
                            : two(in[0]->number(i), in[1]->number(i)));
  return result;
}

} // namespace weft
