//===- Logical.cpp - comparisons, logic and selection ---------------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static OperationRow comparison(const char *name, CompareKind kind) {
  return operation(name, {"x1", "x2"}, {}, [kind](OperationCall &a) {
    SmallVector<Value> both = a.together({"x1", "x2"});
    return a.t.compare(kind, asNumbers(a.t, both[0]), asNumbers(a.t, both[1]));
  });
}
static Value truth(OperationCall &a, Value x) {
  return castTo(a.t, x, a.t.builder.getI1Type());
}
/// The row of a logical function: numbers other than 0 are true.
template <class Op> static OperationRow logical(const char *name) {
  return operation(name, {"x1", "x2"}, {}, [](OperationCall &a) {
    SmallVector<Value> both =
        a.stretched({truth(a, a.tensor("x1")), truth(a, a.tensor("x2"))});
    return a.t.make<Op>(both[0], both[1]);
  });
}
/// The row of a function of integers.
static OperationRow ofBits(const char *name, BinaryFormula formula) {
  return operation(name, {"x", "y"}, {}, [formula](OperationCall &a) {
    SmallVector<Value> both = a.together({"x", "y"});
    bool isGood = a.check(!isFloat(both[0]), "takes integers, not floats");
    return isGood ? formula(a.t, both[0], both[1]) : both[0];
  });
}
static Value leftShift(Tensors &t, Value x, Value y) {
  return t.make<ShiftLeftOp>(asNumbers(t, x), asNumbers(t, y));
}
static Value rightShift(Tensors &t, Value x, Value y) {
  x = asNumbers(t, x), y = asNumbers(t, y);
  return elementOf(x).isUnsignedInteger()
             ? t.make<ShiftRightLogicalOp>(x, y)
             : t.make<ShiftRightArithmeticOp>(x, y);
}
static Value logicalNot(OperationCall &a) {
  return a.t.make<NotOp>(truth(a, a.tensor("x")));
}
static Value bitwiseNot(OperationCall &a) {
  Value x = a.tensor("x");
  return a.check(!isFloat(x), "takes integers, not floats") ? a.t.make<NotOp>(x)
                                                            : x;
}

static OperationRow isInfinite(const char *name, bool below, bool above) {
  return operation(name, {"x"}, {}, [below, above](OperationCall &a) {
    const double infinity = std::numeric_limits<double>::infinity();
    Value x = a.floats("x");
    Value low = a.t.compare(CompareKind::EQ, x, -infinity);
    Value high = a.t.compare(CompareKind::EQ, x, infinity);
    return !above ? low : !below ? high : a.t.make<OrOp>(low, high);
  });
}
static Value isNan(OperationCall &a) {
  Value x = a.floats("x");
  return a.t.compare(CompareKind::NE, x, x);
}
static Value isFinite(OperationCall &a) { return a.t.isFinite(a.floats("x")); }
/// |x1 - x2| <= atol + rtol |x2|, or x1 = x2, as of infinities.
static Value isClose(OperationCall &a) {
  Tensors &t = a.t;
  SmallVector<Value> both = a.together({"x1", "x2"});
  Value x = asFloats(t, both[0]), y = asFloats(t, both[1]);
  Value allowed = t.add(t.mul(t.make<AbsOp>(y), a.number("rtol", 1e-5)),
                        a.number("atol", 1e-8));
  Value isNear = t.make<AndOp>(
      t.compare(CompareKind::LE, t.make<AbsOp>(t.sub(x, y)), allowed),
      t.isFinite(y));
  isNear = t.make<OrOp>(isNear, t.compare(CompareKind::EQ, x, y));
  if (!a.flag("equal_nan"))
    return isNear;
  return t.make<OrOp>(isNear, t.make<AndOp>(t.compare(CompareKind::NE, x, x),
                                            t.compare(CompareKind::NE, y, y)));
}
static Value where(OperationCall &a) {
  if (!a.check(a.given("x1") && a.given("x2"),
               "has no values to choose from; give x1 and x2"))
    return a.tensor("condition");
  SmallVector<Value> both = a.together({"x1", "x2"});
  SmallVector<Value> all =
      a.stretched({truth(a, a.tensor("condition")), both[0], both[1]});
  return a.t.select(all[0], all[1], all[2]);
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
