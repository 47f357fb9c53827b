//===- Elementwise.cpp - the meaning of elementwise ops -------------------===//

#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/local/AbsentElement.h"
#include "weft/passes/interpret/Extremes.h"
#include "weft/passes/interpret/Meanings.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace weft {

namespace {

using RealUnary = double (*)(double);
using RealBinary = double (*)(double, double);
using IntegerBinary = int64_t (*)(int64_t, int64_t, const Tensor &);

double signOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

RealUnary realUnary(Operation *op) {
  return llvm::TypeSwitch<Operation *, RealUnary>(op)
      .Case<NegOp>([](auto) { return +[](double x) { return -x; }; })
      .Case<AbsOp>([](auto) { return +[](double x) { return std::fabs(x); }; })
      .Case<SignOp>([](auto) { return &signOf; })
      .Case<ExpOp>([](auto) { return +[](double x) { return std::exp(x); }; })
      .Case<Expm1Op>(
          [](auto) { return +[](double x) { return std::expm1(x); }; })
      .Case<LogOp>([](auto) { return +[](double x) { return std::log(x); }; })
      .Case<Log1pOp>(
          [](auto) { return +[](double x) { return std::log1p(x); }; })
      .Case<SqrtOp>([](auto) { return +[](double x) { return std::sqrt(x); }; })
      .Case<RsqrtOp>(
          [](auto) { return +[](double x) { return 1 / std::sqrt(x); }; })
      .Case<TanhOp>([](auto) { return +[](double x) { return std::tanh(x); }; })
      .Case<LogisticOp>(
          [](auto) { return +[](double x) { return 1 / (1 + std::exp(-x)); }; })
      .Case<ErfOp>([](auto) { return +[](double x) { return std::erf(x); }; })
      .Case<ErfcOp>([](auto) { return +[](double x) { return std::erfc(x); }; })
      .Case<CeilOp>([](auto) { return +[](double x) { return std::ceil(x); }; })
      .Case<RoundOp>(
          [](auto) { return +[](double x) { return std::round(x); }; })
      .Case<RoundEvenOp>(
          [](auto) { return +[](double x) { return std::nearbyint(x); }; })
      .Case<CbrtOp>([](auto) { return +[](double x) { return std::cbrt(x); }; })
      .Case<SinOp>([](auto) { return +[](double x) { return std::sin(x); }; })
      .Case<CosOp>([](auto) { return +[](double x) { return std::cos(x); }; })
      .Case<TanOp>([](auto) { return +[](double x) { return std::tan(x); }; })
      .Case<FloorOp>(
          [](auto) { return +[](double x) { return std::floor(x); }; })
      .Case<ReluOp>(
          [](auto) { return +[](double x) { return maximum(x, 0); }; })
      .Default([](auto) { return nullptr; });
}

RealBinary realBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, RealBinary>(op)
      .Case<AddOp>(
          [](auto) { return +[](double x, double y) { return x + y; }; })
      .Case<SubOp>(
          [](auto) { return +[](double x, double y) { return x - y; }; })
      .Case<MulOp>(
          [](auto) { return +[](double x, double y) { return x * y; }; })
      .Case<DivOp>(
          [](auto) { return +[](double x, double y) { return x / y; }; })
      .Case<MaxOp>([](auto) { return &maximum; })
      .Case<MinOp>([](auto) { return &minimum; })
      .Case<PowOp>([](auto) {
        return +[](double x, double y) { return std::pow(x, y); };
      })
      .Case<Atan2Op>([](auto) {
        return +[](double y, double x) { return std::atan2(y, x); };
      })
      .Case<RemOp>([](auto) {
        return +[](double x, double y) { return std::fmod(x, y); };
      })
      .Default([](auto) { return nullptr; });
}

bool less(int64_t x, int64_t y, const Tensor &t) {
  return t.isUnsigned() ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y)
                        : x < y;
}

/// x / y, truncated; -1 for a zero divisor; the least integer over -1 wraps.
int64_t divide(int64_t x, int64_t y, const Tensor &t) {
  if (y == 0)
    return -1;
  if (t.isUnsigned())
    return static_cast<int64_t>(static_cast<uint64_t>(x) /
                                static_cast<uint64_t>(y));
  return y == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x / y;
}

int64_t remainder(int64_t x, int64_t y, const Tensor &t) {
  if (y == 0)
    return x;
  if (t.isUnsigned())
    return static_cast<int64_t>(static_cast<uint64_t>(x) %
                                static_cast<uint64_t>(y));
  return y == -1 ? 0 : x % y;
}

int64_t power(int64_t x, int64_t y, const Tensor &t) {
  if (!t.isUnsigned() && y < 0)
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : x == 0 ? -1 : 0;
  uint64_t result = 1, base = static_cast<uint64_t>(x);
  for (uint64_t e = static_cast<uint64_t>(y); e; e >>= 1, base *= base)
    if (e & 1)
      result *= base;
  return static_cast<int64_t>(result);
}

// Wrapping arithmetic is that of uint64_t.
int64_t add(int64_t x, int64_t y, const Tensor &) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) +
                              static_cast<uint64_t>(y));
}
int64_t subtract(int64_t x, int64_t y, const Tensor &) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) -
                              static_cast<uint64_t>(y));
}
int64_t multiply(int64_t x, int64_t y, const Tensor &) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) *
                              static_cast<uint64_t>(y));
}
int64_t larger(int64_t x, int64_t y, const Tensor &t) {
  return less(x, y, t) ? y : x;
}
int64_t smaller(int64_t x, int64_t y, const Tensor &t) {
  return less(x, y, t) ? x : y;
}
int64_t bitAnd(int64_t x, int64_t y, const Tensor &) { return x & y; }
int64_t bitOr(int64_t x, int64_t y, const Tensor &) { return x | y; }
int64_t bitXor(int64_t x, int64_t y, const Tensor &) { return x ^ y; }

/// Whether the amount of a shift is below the width.
bool inWidth(int64_t y, const Tensor &t) {
  return static_cast<uint64_t>(y) < t.bitWidth();
}
int64_t shiftLeft(int64_t x, int64_t y, const Tensor &t) {
  return inWidth(y, t) ? static_cast<int64_t>(static_cast<uint64_t>(x) << y)
                       : 0;
}
int64_t shiftRight(int64_t x, int64_t y, const Tensor &t) {
  uint64_t mask = ~uint64_t(0) >> (64 - t.bitWidth());
  return inWidth(y, t)
             ? static_cast<int64_t>((static_cast<uint64_t>(x) & mask) >> y)
             : 0;
}

int64_t shiftRightSigned(int64_t x, int64_t y, const Tensor &t) {
  unsigned unused = 64 - t.bitWidth();
  int64_t extended =
      static_cast<int64_t>(static_cast<uint64_t>(x) << unused) >> unused;
  return extended >> (inWidth(y, t) ? y : 63);
}

IntegerBinary integerBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, IntegerBinary>(op)
      .Case<AddOp>([](auto) { return &add; })
      .Case<SubOp>([](auto) { return &subtract; })
      .Case<MulOp>([](auto) { return &multiply; })
      .Case<DivOp>([](auto) { return &divide; })
      .Case<RemOp>([](auto) { return &remainder; })
      .Case<MaxOp>([](auto) { return &larger; })
      .Case<MinOp>([](auto) { return &smaller; })
      .Case<PowOp>([](auto) { return &power; })
      .Case<AndOp>([](auto) { return &bitAnd; })
      .Case<OrOp>([](auto) { return &bitOr; })
      .Case<XorOp>([](auto) { return &bitXor; })
      .Case<ShiftLeftOp>([](auto) { return &shiftLeft; })
      .Case<ShiftRightLogicalOp>([](auto) { return &shiftRight; })
      .Case<ShiftRightArithmeticOp>([](auto) { return &shiftRightSigned; })
      .Default([](auto) { return nullptr; });
}

std::optional<int64_t> integerUnary(Operation *op, int64_t x, const Tensor &t) {
  if (isa<NegOp>(op))
    return subtract(0, x, t);
  if (isa<AbsOp>(op))
    return less(x, 0, t) ? subtract(0, x, t) : x;
  if (isa<SignOp>(op))
    return x == 0 ? 0 : less(x, 0, t) ? -1 : 1;
  if (isa<ReluOp>(op))
    return larger(x, 0, t);
  if (isa<NotOp>(op))
    return ~x;
  uint64_t bits =
      static_cast<uint64_t>(x) & (~uint64_t(0) >> (64 - t.bitWidth()));
  if (isa<PopulationCountOp>(op))
    return llvm::popcount(bits);
  if (isa<CountLeadingZerosOp>(op))
    return llvm::countl_zero(bits) - (64 - int64_t(t.bitWidth()));
  return std::nullopt;
}

template <typename T> bool holds(CompareKind kind, T x, T y) {
  switch (kind) {
  case CompareKind::EQ:
    return x == y;
  case CompareKind::NE:
    return x != y;
  case CompareKind::LT:
    return x < y;
  case CompareKind::LE:
    return x <= y;
  case CompareKind::GT:
    return x > y;
  case CompareKind::GE:
    return x >= y;
  }
  return false;
}

Tensor compare(CompareKind kind, const Tensor &x, const Tensor &y,
               RankedTensorType type) {
  Tensor result(type);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInteger(i, x.isFloat() ? holds(kind, x.real(i), y.real(i))
                         : x.isUnsigned()
                             ? holds(kind, static_cast<uint64_t>(x.integer(i)),
                                     static_cast<uint64_t>(y.integer(i)))
                             : holds(kind, x.integer(i), y.integer(i)));
  return result;
}

/// x rounded towards zero and clamped to the type's range; NaN is 0.
int64_t truncate(double x, const Tensor &to) {
  if (std::isnan(x))
    return 0;
  unsigned width = to.bitWidth();
  double high = std::ldexp(1.0, to.isUnsigned() ? width : width - 1);
  double low = to.isUnsigned() ? 0 : -high;
  if (x >= high)
    return static_cast<int64_t>(~uint64_t(0) >>
                                (64 - width + (to.isUnsigned() ? 0 : 1)));
  if (x <= low)
    return to.isUnsigned()
               ? 0
               : std::numeric_limits<int64_t>::min() >> (64 - width);
  return to.isUnsigned() ? static_cast<int64_t>(static_cast<uint64_t>(x))
                         : static_cast<int64_t>(x);
}

std::complex<double> asNumber(const Tensor &x, int64_t i) {
  if (isDifferentiable(x.getElementType()))
    return x.number(i);
  return x.isUnsigned()
             ? static_cast<double>(static_cast<uint64_t>(x.integer(i)))
             : static_cast<double>(x.integer(i));
}

/// Converts each element. A complex number becomes its real part, or in i1
/// whether it is not 0.
Tensor convert(const Tensor &x, RankedTensorType type) {
  Tensor result(type);
  bool toBool = type.getElementType().isInteger(1);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (isDifferentiable(type.getElementType())) {
      result.setNumber(i, asNumber(x, i));
    } else if (x.isComplex()) {
      result.setInteger(i, toBool ? x.number(i) != std::complex<double>(0)
                                  : truncate(x.number(i).real(), result));
    } else if (toBool) {
      result.setInteger(i, x.isFloat() ? x.real(i) != 0 : x.integer(i) != 0);
    } else {
      result.setInteger(i, x.isFloat() ? truncate(x.real(i), result)
                                       : x.integer(i));
    }
  }
  return result;
}

/// The nearest number with these counts of exponent and mantissa bits, ties to
/// even; infinity above the largest number, 0 below the least normal number.
double reducePrecision(double x, int64_t exponentBits, int64_t mantissaBits) {
  if (x == 0 || !std::isfinite(x))
    return x;
  int exponent;
  std::frexp(x, &exponent); // |x| = [0.5, 1) * 2^exponent
  double unit = std::ldexp(1.0, exponent - 1 - static_cast<int>(mantissaBits));
  double rounded = std::nearbyint(x / unit) * unit;
  int64_t bias = (int64_t(1) << std::min<int64_t>(exponentBits - 1, 20)) - 1;
  if (std::fabs(rounded) >= std::ldexp(1.0, static_cast<int>(bias + 1)))
    return std::copysign(std::numeric_limits<double>::infinity(), x);
  if (std::fabs(rounded) < std::ldexp(1.0, static_cast<int>(1 - bias)))
    return std::copysign(0.0, x);
  return rounded;
}

Tensor clamp(const Tensor &low, const Tensor &x, const Tensor &high) {
  Tensor result(x.getType());
  for (int64_t i = 0; i < x.size(); ++i)
    if (x.isFloat())
      result.setReal(i, minimum(maximum(x.real(i), low.real(i)), high.real(i)));
    else
      result.setInteger(i, smaller(larger(x.integer(i), low.integer(i), x),
                                   high.integer(i), x));
  return result;
}

/// The meaning of ops of one operand with attributes, or with another element
/// type.
std::optional<Tensor> otherUnary(Operation *op, const Tensor &x,
                                 Tensor result) {
  auto precision = dyn_cast<ReducePrecisionOp>(op);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (isa<BitcastOp>(op))
      result.setBits(i, x.bits(i));
    else if (isa<IsFiniteOp>(op))
      result.setInteger(i, std::isfinite(x.real(i)));
    else if (precision)
      result.setReal(i, reducePrecision(x.real(i), precision.getExponentBits(),
                                        precision.getMantissaBits()));
    else
      return std::nullopt;
  }
  return isa<BitcastOp, IsFiniteOp>(op) || precision ? std::optional(result)
                                                     : std::nullopt;
}

std::optional<Tensor> unaryOrBinary(Operation *op, Operands in) {
  Tensor result(cast<RankedTensorType>(op->getResult(0).getType()));
  const Tensor &x = *in[0];
  RealUnary unary = x.isFloat() ? realUnary(op) : nullptr;
  RealBinary binary = x.isFloat() ? realBinary(op) : nullptr;
  IntegerBinary integers = x.isFloat() ? nullptr : integerBinary(op);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (unary) {
      result.setReal(i, unary(x.real(i)));
    } else if (binary) {
      result.setReal(i, binary(x.real(i), in[1]->real(i)));
    } else if (integers) {
      result.setInteger(i, integers(x.integer(i), in[1]->integer(i), x));
    } else {
      std::optional<int64_t> value;
      if (!x.isFloat())
        value = integerUnary(op, x.integer(i), x);
      if (!value)
        return std::nullopt;
      result.setInteger(i, *value);
    }
  }
  return result;
}

} // namespace

std::optional<Tensor> meaningOfElementwise(Operation *op, Operands in) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto complex = meaningOfComplex(op, in))
    return complex;
  if (auto compareOp = dyn_cast<CompareOp>(op))
    return compare(compareOp.getKind(), *in[0], *in[1], type);
  if (isa<ConvertOp>(op))
    return convert(*in[0], type);
  if (isa<ConstrainOp, StopGradientOp>(op))
    return *in[0];
  Tensor result(type);
  if (isa<SelectOp>(op)) {
    for (int64_t i = 0; i < result.size(); ++i)
      result.copy(i, in[0]->integer(i) ? *in[1] : *in[2], i);
    return result;
  }
  if (isa<ClampOp>(op))
    return clamp(*in[0], *in[1], *in[2]);
  if (in[0]->isComplex())
    return std::nullopt;
  if (auto other = otherUnary(op, *in[0], result))
    return other;
  return unaryOrBinary(op, in);
}

void combineInto(ReduceKind kind, Tensor &into, int64_t i, const Tensor &from,
                 int64_t j) {
  if (into.isComplex()) {
    std::complex<double> x = into.number(i), y = from.number(j);
    into.setNumber(i, kind == ReduceKind::Sum ? x + y : product(x, y));
    return;
  }
  if (into.isFloat()) {
    double x = into.real(i), y = from.real(j);
    into.setReal(i, kind == ReduceKind::Sum    ? x + y
                    : kind == ReduceKind::Prod ? x * y
                    : kind == ReduceKind::Max  ? maximum(x, y)
                                               : minimum(x, y));
    return;
  }
  constexpr IntegerBinary functions[] = {add,      larger, smaller,
                                         multiply, bitAnd, bitOr};
  into.setInteger(i, functions[static_cast<unsigned>(kind)](
                         into.integer(i), from.integer(j), into));
}

Tensor neutralTensor(ReduceKind kind, RankedTensorType type) {
  bool isBitwise = kind == ReduceKind::And || kind == ReduceKind::Or;
  if (isBitwise && !isa<IntegerType>(type.getElementType()))
    return Tensor(type);
  return Tensor::ofAttribute(neutralData(kind, type));
}

Tensor absentTensor(ReduceKind kind, RankedTensorType type) {
  return kind == ReduceKind::Sum ? Tensor::ofAttribute(absentData(kind, type))
                                 : neutralTensor(kind, type);
}

} // namespace weft
