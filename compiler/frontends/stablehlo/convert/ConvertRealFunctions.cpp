//===- ConvertRealFunctions.cpp - chlo's functions by their formulas ------===//

#include "weft/compiler/frontends/formulas/Functions.h"
#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;
using formulas::Tensor;

namespace {

/// An operand, converted to f32 if its type is narrower; `give` rounds the
/// result to the type.
FailureOr<Tensor> realInput(Converter &c, ForeignOp op, unsigned index) {
  auto type = dyn_cast<FloatType>(op.operandType(index).getElementType());
  if (!type)
    return op.refuse() << "is known of real numbers, not of "
                       << op.operandType(index).getElementType()
                       << "; export the program instead (jax.export)";
  Type computed = type.isF64() ? type : Float32Type::get(type.getContext());
  return Tensor(c.builder, op->getLoc(),
                c.cast(op, c.input(op, index), computed));
}

LogicalResult give(Converter &c, ForeignOp op, Tensor result) {
  return c.give(op, c.cast(op, result.get(), op.resultType().getElementType()));
}

template <Tensor function(Tensor)>
LogicalResult ofOne(Converter &c, ForeignOp op) {
  FailureOr<Tensor> x = realInput(c, op, 0);
  return failed(x) ? failure() : give(c, op, function(*x));
}

template <Tensor function(Tensor, Tensor)>
LogicalResult ofTwo(Converter &c, ForeignOp op) {
  if (op.operandType(0) != op.operandType(1))
    return op.refuse() << "has operands of types " << op.operandType(0)
                       << " and " << op.operandType(1) << "; they must be one";
  FailureOr<Tensor> x = realInput(c, op, 0), y = realInput(c, op, 1);
  return failed(x) || failed(y) ? failure() : give(c, op, function(*x, *y));
}

/// Converts next_after: the number next to the first operand in the direction
/// of the second. The bits count up if the magnitude grows, and down if it
/// shrinks. Next to zero is the smallest number.
LogicalResult nextAfter(Converter &c, ForeignOp op) {
  auto type = op.operandType(0);
  if (!isa<FloatType>(type.getElementType()) || type != op.operandType(1))
    return op.refuse() << "has operands of types " << type << " and "
                       << op.operandType(1) << "; they must be one, of floats";
  unsigned width = type.getElementTypeBitWidth();
  auto bitsType = type.clone(IntegerType::get(type.getContext(), width));
  Value from = c.input(op, 0), to = c.input(op, 1), zero = c.splat(op, 0, type),
        one = c.splat(op, 1, bitsType);
  Value bits = c.make<BitcastOp>(op, bitsType, from);
  Value isPositive = c.make<CompareOp>(op, CompareKind::GT, from, zero);
  Value goesUp = c.make<CompareOp>(op, CompareKind::GT, to, from);
  Value shrinks = c.make<XorOp>(op, isPositive, goesUp);
  Value next = c.make<SelectOp>(op, shrinks, c.make<SubOp>(op, bits, one),
                                c.make<AddOp>(op, bits, one));
  Value sign = c.make<ShiftLeftOp>(op, one, c.splat(op, width - 1, bitsType));
  Value smallest =
      c.make<SelectOp>(op, goesUp, one, c.make<OrOp>(op, one, sign));
  next = c.make<SelectOp>(
      op, c.make<CompareOp>(op, CompareKind::EQ, from, zero), smallest, next);
  Value result = c.make<BitcastOp>(op, type, next);
  result = c.make<SelectOp>(
      op, c.make<CompareOp>(op, CompareKind::EQ, from, to), to, result);
  Value sum = c.make<AddOp>(op, from, to); // NaN if an operand is NaN
  Value isNumber =
      c.make<AndOp>(op, c.make<CompareOp>(op, CompareKind::EQ, from, from),
                    c.make<CompareOp>(op, CompareKind::EQ, to, to));
  return c.give(op, c.make<SelectOp>(op, isNumber, result, sum));
}

constexpr ConversionEntry kEntries[] = {
    {"chlo.acos", ofOne<formulas::acos>},
    {"chlo.acosh", ofOne<formulas::acosh>},
    {"chlo.asin", ofOne<formulas::asin>},
    {"chlo.asinh", ofOne<formulas::asinh>},
    {"chlo.atan", ofOne<formulas::atan>},
    {"chlo.atanh", ofOne<formulas::atanh>},
    {"chlo.bessel_i1e", ofOne<formulas::besselI1e>},
    {"chlo.cosh", ofOne<formulas::cosh>},
    {"chlo.digamma", ofOne<formulas::digamma>},
    {"chlo.erf_inv", ofOne<formulas::erfInv>},
    {"chlo.lgamma", ofOne<formulas::lgamma>},
    {"chlo.next_after", nextAfter, 2},
    {"chlo.polygamma", ofTwo<formulas::polygamma>, 2},
    {"chlo.sinh", ofOne<formulas::sinh>},
    {"chlo.zeta", ofTwo<formulas::zeta>, 2},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::realFunctionConversions() {
  return kEntries;
}
