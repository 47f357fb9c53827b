//===- Logical.cpp - comparisons, logic and selection ---------------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static OperationRow comparison(const char *name, CompareKind kind) {
  return operation(name, {"x1", "x2"}, {}, [kind](OperationCall &a) {
    SmallVector<Tensor> both = a.together({"x1", "x2"});
    return asNumbers(a.t, both[0]).compare(kind, asNumbers(a.t, both[1]));
  });
}
static Tensor truth(OperationCall &a, Tensor x) {
  return castTo(a.t, x, a.t.builder.getI1Type());
}
/// The row of a logical function: numbers other than 0 are true.
template <class Op> static OperationRow logical(const char *name) {
  return operation(name, {"x1", "x2"}, {}, [](OperationCall &a) {
    SmallVector<Tensor> both =
        a.stretched({truth(a, a.tensor("x1")), truth(a, a.tensor("x2"))});
    return a.t.make<Op>(both[0], both[1]);
  });
}
/// The row of a function of integers.
static OperationRow ofBits(const char *name, BinaryFormula formula) {
  return operation(name, {"x", "y"}, {}, [formula](OperationCall &a) {
    SmallVector<Tensor> both = a.together({"x", "y"});
    bool isGood = a.check(!isFloat(both[0]), "takes integers, not floats");
    return isGood ? formula(a.t, both[0], both[1]) : both[0];
  });
}
static Tensor leftShift(Tensors &t, Tensor x, Tensor y) {
  return t.make<ShiftLeftOp>(asNumbers(t, x), asNumbers(t, y));
}
static Tensor rightShift(Tensors &t, Tensor x, Tensor y) {
  x = asNumbers(t, x), y = asNumbers(t, y);
  return elementOf(x).isUnsignedInteger()
             ? t.make<ShiftRightLogicalOp>(x, y)
             : t.make<ShiftRightArithmeticOp>(x, y);
}
static Tensor logicalNot(OperationCall &a) { return ~truth(a, a.tensor("x")); }
static Tensor bitwiseNot(OperationCall &a) {
  Tensor x = a.tensor("x");
  return a.check(!isFloat(x), "takes integers, not floats") ? ~x : x;
}

static OperationRow isInfinite(const char *name, bool below, bool above) {
  return operation(name, {"x"}, {}, [below, above](OperationCall &a) {
    const double infinity = std::numeric_limits<double>::infinity();
    Tensor x = a.floats("x");
    Tensor low = x == -infinity;
    Tensor high = x == infinity;
    return !above ? low : !below ? high : low | high;
  });
}
static Tensor isNan(OperationCall &a) {
  Tensor x = a.floats("x");
  return x != x;
}
static Tensor isFinite(OperationCall &a) { return a.t.isFinite(a.floats("x")); }
/// |x1 - x2| <= atol + rtol |x2|, or x1 = x2, as of infinities.
static Tensor isClose(OperationCall &a) {
  Tensors &t = a.t;
  SmallVector<Tensor> both = a.together({"x1", "x2"});
  Tensor x = asFloats(t, both[0]), y = asFloats(t, both[1]);
  Tensor allowed = abs(y) * a.number("rtol", 1e-5) + a.number("atol", 1e-8);
  Tensor isNear = (abs(x - y) <= allowed) & t.isFinite(y);
  isNear = isNear | (x == y);
  if (!a.flag("equal_nan"))
    return isNear;
  return isNear | ((x != x) & (y != y));
}
static Tensor where(OperationCall &a) {
  if (!a.check(a.given("x1") && a.given("x2"),
               "has no values to choose from; give x1 and x2"))
    return a.tensor("condition");
  SmallVector<Tensor> both = a.together({"x1", "x2"});
  SmallVector<Tensor> all =
      a.stretched({truth(a, a.tensor("condition")), both[0], both[1]});
  return select(all[0], all[1], all[2]);
}

std::vector<OperationRow> weft::keras::logicalOperations() {
  return {ofBits("BitwiseAnd", two<AndOp>),
          operation("BitwiseInvert", {"x"}, {}, bitwiseNot),
          ofBits("BitwiseLeftShift", leftShift),
          operation("BitwiseNot", {"x"}, {}, bitwiseNot),
          ofBits("BitwiseOr", two<OrOp>),
          ofBits("BitwiseRightShift", rightShift),
          ofBits("BitwiseXor", two<XorOp>),
          comparison("Equal", CompareKind::EQ),
          comparison("Greater", CompareKind::GT),
          comparison("GreaterEqual", CompareKind::GE),
          operation("Isclose", {"x1", "x2", "rtol", "atol"},
                    {{"equal_nan", "false"}}, isClose),
          operation("Isfinite", {"x"}, {}, isFinite),
          isInfinite("Isinf", true, true),
          operation("Isnan", {"x"}, {}, isNan),
          isInfinite("Isneginf", true, false),
          isInfinite("Isposinf", false, true),
          ofBits("LeftShift", leftShift),
          comparison("Less", CompareKind::LT),
          comparison("LessEqual", CompareKind::LE),
          logical<AndOp>("LogicalAnd"),
          operation("LogicalNot", {"x"}, {}, logicalNot),
          logical<OrOp>("LogicalOr"),
          logical<XorOp>("LogicalXor"),
          comparison("NotEqual", CompareKind::NE),
          ofBits("RightShift", rightShift),
          operation("Where", {"condition", "x1", "x2"}, {}, where)};
}
