//===- Binary.cpp - functions of two numbers ------------------------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The row of a function of two tensors, in their common type and shape.
static OperationRow ofTwo(const char *name, BinaryFormula formula) {
  return operation(name, {"x1", "x2"}, {}, [formula](OperationCall &a) {
    SmallVector<Value> both = a.together({"x1", "x2"});
    return formula(a.t, both[0], both[1]);
  });
}
/// The row of a function of two tensors, converted to floats.
static OperationRow ofTwoFloats(const char *name, BinaryFormula formula) {
  return operation(name, {"x1", "x2"}, {}, [formula](OperationCall &a) {
    SmallVector<Value> both = a.together({"x1", "x2"});
    return formula(a.t, asFloats(a.t, both[0]), asFloats(a.t, both[1]));
  });
}

static Value sum(Tensors &t, Value x, Value y) {
  return isBool(x) ? t.make<OrOp>(x, y) : t.add(x, y);
}
static Value product(Tensors &t, Value x, Value y) {
  return isBool(x) ? t.make<AndOp>(x, y) : t.mul(x, y);
}
static Value differs(Tensors &t, Value x, Value y) {
  return t.compare(CompareKind::NE, x, y);
}

/// x^y. Integers by repeated squaring, for the lowest six bits of y.
static Value power(Tensors &t, Value x, Value y) {
  if (isFloat(x))
    return t.make<PowOp>(x, y);
  x = asNumbers(t, x), y = asNumbers(t, y);
  constexpr int kBits = 6; // as in jnp.power: more overflow for each x > 1
  Value one = t.splat(1, x), zero = t.splat(0, x);
  Value isZero = t.make<AndOp>(t.compare(CompareKind::EQ, x, 0),
                               t.compare(CompareKind::NE, y, 0));
  Value out = t.select(isZero, zero, one);
  for (int bit = 0; bit < kBits; ++bit) {
    Value isSet = differs(t, t.make<AndOp>(y, one), zero);
    out = t.select(isSet, t.mul(out, x), out);
    x = t.mul(x, x);
    y = t.make<ShiftRightLogicalOp>(y, one);
  }
  return out;
}

/// The divisor of a remainder, which is 0 for an integer and 0.
static Value divisor(Tensors &t, Value y) {
  return isFloat(y)
             ? y
             : t.select(t.compare(CompareKind::EQ, y, 0), t.splat(1, y), y);
}
/// The remainder with the sign of x.
static Value remainder(Tensors &t, Value x, Value y) {
  return t.make<RemOp>(x, divisor(t, y));
}
/// The remainder with the sign of y.
static Value modulo(Tensors &t, Value x, Value y) {
  y = divisor(t, y);
  Value rest = t.make<RemOp>(x, y);
  Value isOther = differs(t,
                          t.make<ConvertOp>(t.compare(CompareKind::LT, rest, 0),
                                            t.builder.getI32Type()),
                          t.make<ConvertOp>(t.compare(CompareKind::LT, y, 0),
                                            t.builder.getI32Type()));
  Value moves = t.make<AndOp>(isOther, t.compare(CompareKind::NE, rest, 0));
  return t.select(moves, t.add(rest, y), rest);
}
static Value floorDivide(Tensors &t, Value x, Value y) {
  x = asNumbers(t, x), y = asNumbers(t, y);
  if (elementOf(x).isUnsignedInteger())
    return t.div(x, y);
  Value rest = t.make<RemOp>(x, y);
  Value isOther = differs(t, t.make<SignOp>(rest), t.make<SignOp>(y));
  Value moves = t.make<AndOp>(isOther, t.compare(CompareKind::NE, rest, 0));
  Value exact = x;
  if (isFloat(x)) // x / 0 is infinite
    exact = t.select(t.compare(CompareKind::EQ, y, 0), x, t.sub(x, rest));
  Value quotient = t.div(exact, y);
  Value out = t.select(moves, t.sub(quotient, t.splat(1, quotient)), quotient);
  return isFloat(x) ? t.make<RoundOp>(out) : out;
}
static Value divideNoNan(Tensors &t, Value x, Value y) {
  Value isZero = t.compare(CompareKind::EQ, y, 0);
  Value safe = t.select(isZero, t.splat(1, y), y);
  return t.select(isZero, t.splat(0, x), t.div(x, safe));
}
static Value logAddExp(Tensors &t, Value x, Value y) {
  return t.logAddExp(x, y);
}
static Value hypotenuse(Tensors &t, Value x, Value y) {
  Value a = t.make<AbsOp>(x), b = t.make<AbsOp>(y);
  Value large = t.make<MaxOp>(a, b), small = t.make<MinOp>(a, b);
  Value isZero = t.compare(CompareKind::EQ, large, 0);
  Value share = t.div(small, t.select(isZero, t.splat(1, large), large));
  Value root = t.make<SqrtOp>(t.add(t.mul(share, share), 1.0));
  Value out = t.select(isZero, large, t.mul(large, root));
  double infinity = std::numeric_limits<double>::infinity();
  Value isInfinite = t.make<OrOp>(t.compare(CompareKind::EQ, a, infinity),
                                  t.compare(CompareKind::EQ, b, infinity));
  return t.select(isInfinite, t.splat(infinity, out), out);
}
/// y where x is 0; 0 for negative x, 1 for positive x, and NaN for NaN.
static Value heaviside(Tensors &t, Value x, Value y) {
  Value side =
      t.select(t.compare(CompareKind::LT, x, 0), t.splat(0, x), t.splat(1, x));
  side = t.select(t.compare(CompareKind::EQ, x, 0), y, side);
  return t.select(differs(t, x, x), x, side);
}
/// x where it is larger (GT) or smaller (LT) than y or y is NaN, else y, whose
/// derivative counts if both are equal, as in jnp.fmax.
template <CompareKind kind> static Value known(Tensors &t, Value x, Value y) {
  Value isFirst = t.compare(kind, x, y);
  return t.select(t.make<OrOp>(isFirst, differs(t, y, y)), x, y);
}

std::vector<OperationRow> weft::keras::binaryOperations() {
  return {ofTwo("Add", sum),
          ofTwoFloats("Arctan2", two<Atan2Op>),
          ofTwoFloats("Divide", two<DivOp>),
          ofTwoFloats("DivideNoNan", divideNoNan),
          ofTwo("FloorDivide", floorDivide),
          ofTwo("Fmax", known<CompareKind::GT>),
          ofTwo("Fmin", known<CompareKind::LT>),
          ofTwo("Fmod", remainder),
          ofTwoFloats("Heaviside", heaviside),
          ofTwoFloats("Hypot", hypotenuse),
          ofTwoFloats("Logaddexp", logAddExp),
          ofTwo("Maximum", two<MaxOp>),
          ofTwo("Minimum", two<MinOp>),
          ofTwo("Mod", modulo),
          ofTwo("Multiply", product),
          ofTwo("Power", power),
          ofTwo("Subtract", two<SubOp>),
          ofTwoFloats("TrueDivide", two<DivOp>)};
}
