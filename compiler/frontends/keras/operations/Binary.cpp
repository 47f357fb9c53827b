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
    SmallVector<Tensor> both = a.together({"x1", "x2"});
    return formula(a.t, both[0], both[1]);
  });
}
/// The row of a function of two tensors, converted to floats.
static OperationRow ofTwoFloats(const char *name, BinaryFormula formula) {
  return operation(name, {"x1", "x2"}, {}, [formula](OperationCall &a) {
    SmallVector<Tensor> both = a.together({"x1", "x2"});
    return formula(a.t, asFloats(a.t, both[0]), asFloats(a.t, both[1]));
  });
}

static Tensor sum(Tensors &t, Tensor x, Tensor y) {
  return isBool(x) ? x | y : x + y;
}
static Tensor product(Tensors &t, Tensor x, Tensor y) {
  return isBool(x) ? x & y : x * y;
}
static Tensor differs(Tensor x, Tensor y) { return x != y; }

/// x^y. Integers by repeated squaring, for the lowest six bits of y.
static Tensor power(Tensors &t, Tensor x, Tensor y) {
  if (isFloat(x))
    return pow(x, y);
  x = asNumbers(t, x), y = asNumbers(t, y);
  constexpr int kBits = 6; // as in jnp.power: more overflow for each x > 1
  Tensor one = t.splat(1, x), zero = t.splat(0, x);
  Tensor isZero = (x == 0) & (y != 0);
  Tensor out = select(isZero, zero, one);
  for (int bit = 0; bit < kBits; ++bit) {
    Tensor isSet = differs(y & one, zero);
    out = select(isSet, out * x, out);
    x = x * x;
    y = t.make<ShiftRightLogicalOp>(y, one);
  }
  return out;
}

/// The divisor of a remainder, which is 0 for an integer and 0.
static Tensor divisor(Tensor y) {
  return isFloat(y) ? y : select(y == 0, 1, y);
}
/// The remainder with the sign of x.
static Tensor remainder(Tensors &t, Tensor x, Tensor y) {
  return x % divisor(y);
}
/// The remainder with the sign of y.
static Tensor modulo(Tensors &t, Tensor x, Tensor y) {
  y = divisor(y);
  Tensor rest = x % y;
  Tensor isOther = differs(t.make<ConvertOp>(rest < 0, t.builder.getI32Type()),
                           t.make<ConvertOp>(y < 0, t.builder.getI32Type()));
  Tensor moves = isOther & (rest != 0);
  return select(moves, rest + y, rest);
}
static Tensor floorDivide(Tensors &t, Tensor x, Tensor y) {
  x = asNumbers(t, x), y = asNumbers(t, y);
  if (elementOf(x).isUnsignedInteger())
    return x / y;
  Tensor rest = x % y;
  Tensor isOther = differs(sign(rest), sign(y));
  Tensor moves = isOther & (rest != 0);
  Tensor exact = x;
  if (isFloat(x)) // x / 0 is infinite
    exact = select(y == 0, x, x - rest);
  Tensor quotient = exact / y;
  Tensor out = select(moves, quotient - 1, quotient);
  return isFloat(x) ? round(out) : out;
}
static Tensor divideNoNan(Tensors &t, Tensor x, Tensor y) {
  Tensor isZero = y == 0;
  Tensor safe = select(isZero, 1, y);
  return select(isZero, t.splat(0, x), x / safe);
}
static Tensor logAddExp(Tensors &t, Tensor x, Tensor y) {
  return t.logAddExp(x, y);
}
static Tensor hypotenuse(Tensors &t, Tensor x, Tensor y) {
  Tensor a = abs(x), b = abs(y);
  Tensor large = max(a, b), small = min(a, b);
  Tensor isZero = large == 0;
  Tensor share = small / select(isZero, 1, large);
  Tensor root = sqrt(share * share + 1.0);
  Tensor out = select(isZero, large, large * root);
  double infinity = std::numeric_limits<double>::infinity();
  Tensor isInfinite = (a == infinity) | (b == infinity);
  return select(isInfinite, infinity, out);
}
/// y where x is 0; 0 for negative x, 1 for positive x, and NaN for NaN.
static Tensor heaviside(Tensors &t, Tensor x, Tensor y) {
  Tensor side = select(x < 0, t.splat(0, x), t.splat(1, x));
  side = select(x == 0, y, side);
  return select(differs(x, x), x, side);
}
/// x where it is larger (GT) or smaller (LT) than y or y is NaN, else y, whose
/// derivative counts if both are equal, as in jnp.fmax.
template <CompareKind kind> static Tensor known(Tensors &, Tensor x, Tensor y) {
  Tensor isFirst = x.compare(kind, y);
  return select(isFirst | differs(y, y), x, y);
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
