//===- ConvertElementwise.cpp - StableHLO's elementwise ops ---------------===//

#include "weft/compiler/frontends/stablehlo/convert/TotalOrder.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

bool isTruth(Value value) {
  return getElementTypeOrSelf(value.getType()).isInteger(1);
}

LogicalResult wrongOperands(ForeignOp op, unsigned expected) {
  return op.refuse() << "has " << op->getNumOperands() << " operands, not "
                     << expected;
}

template <typename Op> LogicalResult unary(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 1)
    return wrongOperands(op, 1);
  return c.give(op, c.make<Op>(op, c.input(op, 0)));
}

template <typename Op> LogicalResult binary(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 2)
    return wrongOperands(op, 2);
  if (op->getOperand(0).getType() != op->getOperand(1).getType())
    return op.refuse() << "has operands of types "
                       << op->getOperand(0).getType() << " and "
                       << op->getOperand(1).getType() << "; they must be one";
  return c.give(op, c.make<Op>(op, c.input(op, 0), c.input(op, 1)));
}

/// Converts arithmetic; on booleans it becomes a logical op.
template <typename Op, typename OnTruth>
LogicalResult arithmetic(Converter &c, ForeignOp op) {
  if (op->getNumOperands() == 2 && isTruth(op->getOperand(0)))
    return binary<OnTruth>(c, op);
  return binary<Op>(c, op);
}

LogicalResult compare(Converter &c, ForeignOp op) {
  auto kind = llvm::StringSwitch<std::optional<CompareKind>>(
                  op.word("comparison_direction"))
                  .Case("EQ", CompareKind::EQ)
                  .Case("NE", CompareKind::NE)
                  .Case("LT", CompareKind::LT)
                  .Case("LE", CompareKind::LE)
                  .Case("GT", CompareKind::GT)
                  .Case("GE", CompareKind::GE)
                  .Default(std::nullopt);
  if (op->getNumOperands() != 2)
    return wrongOperands(op, 2);
  if (!kind)
    return op.refuse() << "compares in no known way";
  Value lhs = c.input(op, 0), rhs = c.input(op, 1);
  if (op->getOperand(0).getType() != op->getOperand(1).getType())
    return op.refuse() << "has operands of types "
                       << op->getOperand(0).getType() << " and "
                       << op->getOperand(1).getType() << "; they must be one";
  if (op.word("compare_type") == "TOTALORDER") {
    lhs = toTotalOrder(c, op, lhs);
    rhs = toTotalOrder(c, op, rhs);
  }
  return c.give(op, c.make<CompareOp>(op, *kind, lhs, rhs));
}

LogicalResult select(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 3)
    return wrongOperands(op, 3);
  auto type = op.resultType();
  return c.give(op,
                c.make<SelectOp>(
                    op,
                    c.fill(op, c.input(op, 0),
                           type.clone(IntegerType::get(type.getContext(), 1))),
                    c.input(op, 1), c.input(op, 2)));
}

LogicalResult clamp(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 3)
    return wrongOperands(op, 3);
  auto type = op.resultType();
  return c.give(op, c.make<ClampOp>(op, c.fill(op, c.input(op, 0), type),
                                    c.input(op, 1),
                                    c.fill(op, c.input(op, 2), type)));
}

LogicalResult convert(Converter &c, ForeignOp op) {
  return c.give(op,
                c.cast(op, c.input(op, 0), op.resultType().getElementType()));
}

LogicalResult isFinite(Converter &c, ForeignOp op) {
  return c.give(op, c.make<IsFiniteOp>(op, op.resultType(), c.input(op, 0)));
}

LogicalResult reducePrecision(Converter &c, ForeignOp op) {
  auto exponent = op.integer("exponent_bits");
  auto mantissa = op.integer("mantissa_bits");
  if (!exponent || !mantissa)
    return op.refuse() << "names no float format";
  return c.give(op,
                c.make<ReducePrecisionOp>(op, op.resultType(), c.input(op, 0),
                                          *exponent, *mantissa));
}

LogicalResult square(Converter &c, ForeignOp op) {
  Value x = c.input(op, 0);
  return c.give(op, c.make<MulOp>(op, x, x));
}

/// Converts is_inf, which is true for both infinities.
LogicalResult isInfinite(Converter &c, ForeignOp op) {
  Value x = c.input(op, 0);
  Value all = c.make<AbsOp>(op, x);
  double infinity = std::numeric_limits<double>::infinity();
  return c.give(op,
                c.make<CompareOp>(op, CompareKind::EQ, all,
                                  c.splat(op, infinity, op.operandType(0))));
}

bool isComplex(ForeignOp op) {
  return isa<ComplexType>(op.operandType(0).getElementType());
}

/// Converts real, which returns a real operand unchanged.
LogicalResult real(Converter &c, ForeignOp op) {
  return isComplex(op) ? unary<RealOp>(c, op) : c.give(op, c.input(op, 0));
}

/// Converts imag, which is 0 for a real operand.
LogicalResult imag(Converter &c, ForeignOp op) {
  return isComplex(op) ? unary<ImagOp>(c, op)
                       : c.give(op, c.splat(op, 0, op.operandType(0)));
}

/// Converts cbrt; for a complex operand x it is the principal root x^(1/3).
LogicalResult cubeRoot(Converter &c, ForeignOp op) {
  if (!isComplex(op))
    return unary<CbrtOp>(c, op);
  return c.give(op, c.make<PowOp>(op, c.input(op, 0),
                                  c.splat(op, 1.0 / 3, op.operandType(0))));
}

/// Converts atan2; for complex operands it is -i log((x + iy) / sqrt(x^2 +
/// y^2)).
LogicalResult angle(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 2 || !isComplex(op) ||
      op.operandType(0) != op.operandType(1))
    return binary<Atan2Op>(c, op);
  Value y = c.input(op, 0), x = c.input(op, 1);
  auto type = op.operandType(0);
  auto parts =
      type.clone(::cast<ComplexType>(type.getElementType()).getElementType());
  Value i = c.make<ComplexOp>(op, c.splat(op, 0, parts), c.splat(op, 1, parts));
  Value length = c.make<SqrtOp>(
      op, c.make<AddOp>(op, c.make<MulOp>(op, x, x), c.make<MulOp>(op, y, y)));
  Value turned =
      c.make<DivOp>(op, c.make<AddOp>(op, x, c.make<MulOp>(op, i, y)), length);
  Value log = c.make<LogOp>(op, turned);
  return c.give(op,
                c.make<ComplexOp>(op, c.make<ImagOp>(op, log),
                                  c.make<NegOp>(op, c.make<RealOp>(op, log))));
}

/// Converts a maximum or minimum. Complex numbers are compared by their real
/// parts, then by their imaginary parts.
template <typename Op, typename OnTruth, CompareKind kind>
LogicalResult extreme(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 2 || !isComplex(op) ||
      op.operandType(0) != op.operandType(1))
    return arithmetic<Op, OnTruth>(c, op);
  Value a = c.input(op, 0), b = c.input(op, 1);
  Value realOfA = c.make<RealOp>(op, a), realOfB = c.make<RealOp>(op, b);
  Value isTie = c.make<CompareOp>(op, CompareKind::EQ, realOfA, realOfB);
  Value byReal = c.make<CompareOp>(op, kind, realOfA, realOfB);
  Value byImag =
      c.make<CompareOp>(op, kind, c.make<ImagOp>(op, a), c.make<ImagOp>(op, b));
  return c.give(op, c.make<SelectOp>(
                        op, c.make<SelectOp>(op, isTie, byImag, byReal), a, b));
}

constexpr ConversionEntry kEntries[] = {
    {"abs", unary<AbsOp>},
    {"cbrt", cubeRoot},
    {"ceil", unary<CeilOp>},
    {"cosine", unary<CosOp>},
    {"count_leading_zeros", unary<CountLeadingZerosOp>},
    {"exponential", unary<ExpOp>},
    {"exponential_minus_one", unary<Expm1Op>},
    {"floor", unary<FloorOp>},
    {"log", unary<LogOp>},
    {"log_plus_one", unary<Log1pOp>},
    {"logistic", unary<LogisticOp>},
    {"negate", unary<NegOp>},
    {"not", unary<NotOp>},
    {"popcnt", unary<PopulationCountOp>},
    {"round_nearest_afz", unary<RoundOp>},
    {"round_nearest_even", unary<RoundEvenOp>},
    {"rsqrt", unary<RsqrtOp>},
    {"sign", unary<SignOp>},
    {"sine", unary<SinOp>},
    {"sqrt", unary<SqrtOp>},
    {"tan", unary<TanOp>},
    {"tanh", unary<TanhOp>},
    {"real", real},
    {"imag", imag},
    {"complex", binary<ComplexOp>},
    {"chlo.conj", unary<ConjOp>},
    {"chlo.erf", unary<ErfOp>},
    {"chlo.erfc", unary<ErfcOp>},
    {"chlo.square", square},
    {"chlo.tan", unary<TanOp>},
    {"chlo.is_inf", isInfinite},
    {"add", arithmetic<AddOp, OrOp>},
    {"multiply", arithmetic<MulOp, AndOp>},
    {"maximum", extreme<MaxOp, OrOp, CompareKind::GT>},
    {"minimum", extreme<MinOp, AndOp, CompareKind::LT>},
    {"subtract", binary<SubOp>},
    {"divide", binary<DivOp>},
    {"power", binary<PowOp>},
    {"remainder", binary<RemOp>},
    {"and", binary<AndOp>},
    {"or", binary<OrOp>},
    {"xor", binary<XorOp>},
    {"shift_left", binary<ShiftLeftOp>},
    {"shift_right_logical", binary<ShiftRightLogicalOp>},
    {"shift_right_arithmetic", binary<ShiftRightArithmeticOp>},
    {"atan2", angle},
    {"compare", compare},
    {"select", select},
    {"clamp", clamp},
    {"convert", convert},
    {"is_finite", isFinite},
    {"reduce_precision", reducePrecision},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::elementwiseConversions() {
  return kEntries;
}
