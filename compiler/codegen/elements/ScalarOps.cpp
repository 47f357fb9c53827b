//===- ScalarOps.cpp - elementwise ops on registers -----------------------===//

#include "weft/compiler/codegen/elements/ScalarOps.h"

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarEmitter.h"
#include "weft/compiler/codegen/elements/SmallFloatOps.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/local/AbsentElement.h"

#include <limits>

using namespace mlir;

namespace weft::elements {

Value ScalarEmitter::negative() const {
  if (isFloat())
    return arith::NegFOp::create(b, loc, in[0]);
  return arith::SubIOp::create(b, loc, number(0), in[0]);
}

Value ScalarEmitter::inverse(Value x) const {
  return arith::DivFOp::create(b, loc, number(1), x);
}

Value ScalarEmitter::power() const {
  if (isFloat())
    return math<math::PowFOp>();
  return integerPower();
}

Value ScalarEmitter::sign() const {
  if (isUnsigned(type)) {
    Value positive = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                           in[0], number(0));
    return arith::SelectOp::create(b, loc, positive, number(1), number(0));
  }
  Value above = compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt,
                        in[0], number(0));
  Value below = compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt,
                        in[0], number(0));
  // The remaining values, zeros and NaN, are unchanged.
  Value rest = arith::SelectOp::create(b, loc, below, number(-1), in[0]);
  return arith::SelectOp::create(b, loc, above, number(1), rest);
}

Value ScalarEmitter::absolute() const {
  if (isFloat())
    return math::AbsFOp::create(b, loc, in[0]);
  if (isUnsigned(type))
    return in[0];
  return math::AbsIOp::create(b, loc, in[0]);
}

Value ScalarEmitter::relu() const {
  // "greater or unordered" keeps NaN.
  Value keep = compare(arith::CmpFPredicate::UGT,
                       isUnsigned(type) ? arith::CmpIPredicate::ugt
                                        : arith::CmpIPredicate::sgt,
                       in[0], number(0));
  return arith::SelectOp::create(b, loc, keep, in[0], number(0));
}

Value ScalarEmitter::logistic() const {
  Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1.0));
  Value negated = arith::NegFOp::create(b, loc, in[0]);
  ScalarEmitter inner{b, loc, type, ValueRange(negated)};
  Value sum = arith::AddFOp::create(b, loc, one, inner.math<math::ExpOp>());
  return arith::DivFOp::create(b, loc, one, sum);
}

Value ScalarEmitter::isFinite() const {
  Value infinity = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(type, std::numeric_limits<double>::infinity()));
  // "ordered and less" is false for NaN.
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, absolute(),
                               infinity);
}

Value ScalarEmitter::clamp() const {
  SmallVector<Value> lower{in[1], in[0]};
  Value raised = ScalarEmitter{b, loc, type, lower}
                     .pick<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>();
  SmallVector<Value> upper{raised, in[2]};
  return ScalarEmitter{b, loc, type, upper}
      .pick<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>();
}

/// Rounds the mantissa to even on the bits, then adjusts the exponent. The
/// largest numbers round up into the exponent, which gives infinity.
Value ScalarEmitter::reducePrecision(int64_t exponentBits,
                                     int64_t mantissaBits) const {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 32) {
    SmallVector<Value> wide{
        arith::ExtFOp::create(b, loc, b.getF32Type(), in[0])};
    Value result = ScalarEmitter{b, loc, b.getF32Type(), wide}.reducePrecision(
        exponentBits, mantissaBits);
    return arith::TruncFOp::create(b, loc, type, result);
  }
  Type bitsType = b.getIntegerType(width);
  int64_t mantissa = width == 64 ? 52 : 23, exponent = width - 1 - mantissa;
  auto constant = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(bitsType, APInt(width, value, false, true)));
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(b, loc, x, y);
  };
  auto choose = [&](arith::CmpIPredicate predicate, Value x, Value y,
                    Value chosen, Value other) -> Value {
    Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
    return arith::SelectOp::create(b, loc, holds, chosen, other);
  };
  Value bits = arith::BitcastOp::create(b, loc, bitsType, in[0]);
  if (mantissaBits < mantissa) {
    uint64_t last = uint64_t(1) << (mantissa - mantissaBits);
    Value odd = arith::ShRUIOp::create(b, loc, both(bits, constant(last)),
                                       constant(mantissa - mantissaBits));
    Value bias = arith::AddIOp::create(b, loc, odd, constant((last >> 1) - 1));
    bits =
        both(arith::AddIOp::create(b, loc, bits, bias), constant(~(last - 1)));
  }
  if (exponentBits < exponent) {
    uint64_t bias = (uint64_t(1) << (exponent - 1)) - 1,
             reduced = (uint64_t(1) << (exponentBits - 1)) - 1;
    uint64_t mask = ((uint64_t(1) << exponent) - 1) << mantissa;
    Value field = both(bits, constant(mask)),
          zero = both(bits, constant(uint64_t(1) << (width - 1)));
    Value infinity = arith::OrIOp::create(b, loc, zero, constant(mask));
    bits = choose(arith::CmpIPredicate::ugt, field,
                  constant((bias + reduced) << mantissa), infinity, bits);
    bits = choose(arith::CmpIPredicate::ule, field,
                  constant((bias - reduced) << mantissa), zero, bits);
  }
  Value rounded = arith::BitcastOp::create(b, loc, type, bits);
  Value isNumber =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, in[0], in[0]);
  return arith::SelectOp::create(b, loc, isNumber, rounded, in[0]);
}

Value ScalarEmitter::compareOp(CompareKind kind) const {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  bool u = isUnsigned(type);
  switch (kind) {
  case CompareKind::EQ:
    return compare(F::OEQ, I::eq, in[0], in[1]);
  case CompareKind::NE:
    return compare(F::UNE, I::ne, in[0], in[1]);
  case CompareKind::LT:
    return compare(F::OLT, u ? I::ult : I::slt, in[0], in[1]);
  case CompareKind::LE:
    return compare(F::OLE, u ? I::ule : I::sle, in[0], in[1]);
  case CompareKind::GT:
    return compare(F::OGT, u ? I::ugt : I::sgt, in[0], in[1]);
  case CompareKind::GE:
    return compare(F::OGE, u ? I::uge : I::sge, in[0], in[1]);
  }
  return {};
}

Value ScalarEmitter::convert(Type to) const {
  Type result = computeType(to);
  to = scalarType(to);
  if (to.isInteger(1))
    return compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, in[0],
                   number(0));
  if (isFloat() && isa<FloatType>(to)) {
    unsigned from = type.getIntOrFloatBitWidth(),
             width = to.getIntOrFloatBitWidth();
    if (from < width)
      return arith::ExtFOp::create(b, loc, result, in[0]);
    if (from > width)
      return arith::TruncFOp::create(b, loc, result, in[0]);
    if (type == to)
      return in[0];
    Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), in[0]);
    return arith::TruncFOp::create(b, loc, result, wide);
  }
  if (isFloat()) {
    // The saturating conversion gives the nearest integer out of range, and 0
    // for NaN.
    StringRef name = isUnsigned(to) ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
    return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name),
                                         in[0])
        .getResult(0);
  }
  if (isa<FloatType>(to))
    return isUnsigned(type)
               ? arith::UIToFPOp::create(b, loc, result, in[0]).getResult()
               : arith::SIToFPOp::create(b, loc, result, in[0]).getResult();
  unsigned from = type.getIntOrFloatBitWidth(),
           width = to.getIntOrFloatBitWidth();
  if (from == width)
    return in[0];
  if (from > width)
    return arith::TruncIOp::create(b, loc, result, in[0]);
  return isUnsigned(type)
             ? arith::ExtUIOp::create(b, loc, result, in[0]).getResult()
             : arith::ExtSIOp::create(b, loc, result, in[0]).getResult();
}

bool isElementwise(Operation *op) { return isa<ScalarCodeOpInterface>(op); }

FailureOr<Value> emitScalarOp(OpBuilder &builder, Operation *op,
                              ValueRange operands) {
  auto code = dyn_cast<ScalarCodeOpInterface>(op);
  Value result = code ? code.emitScalar(builder, operands) : Value();
  if (!result)
    return op->emitError() << "'" << op->getName() << "' on elements "
                           << typeOf(op->getOperand(0)).getElementType()
                           << " has no code";
  return roundedTo(builder, op->getLoc(),
                   typeOf(op->getResult(0)).getElementType(), result);
}

Value convertScalar(OpBuilder &builder, Location loc, Type from, Type to,
                    Value value) {
  return ScalarEmitter{builder, loc, scalarType(from), ValueRange(value)}
      .convert(to);
}

Value extendScalar(OpBuilder &builder, Location loc, Type from, Type to,
                   Value value) {
  return from == to ? value : convertScalar(builder, loc, from, to, value);
}

Value emitCombine(OpBuilder &b, Location loc, ReduceKind kind, Type elementType,
                  Value lhs, Value rhs) {
  if (isa<ComplexType>(elementType)) {
    ComplexEmitter c{b, loc};
    return kind == ReduceKind::Sum ? c.add(lhs, rhs) : c.multiply(lhs, rhs);
  }
  SmallVector<Value> operands{lhs, rhs};
  ScalarEmitter emitter{b, loc, scalarType(elementType), operands};
  bool isFloat = emitter.isFloat();
  switch (kind) {
  case ReduceKind::Sum:
    if (!isFloat)
      return arith::AddIOp::create(b, loc, lhs, rhs);
    return arith::AddFOp::create(b, loc, lhs, rhs,
                                 arith::FastMathFlags::reassoc);
  case ReduceKind::Prod:
    if (!isFloat)
      return arith::MulIOp::create(b, loc, lhs, rhs);
    return arith::MulFOp::create(b, loc, lhs, rhs,
                                 arith::FastMathFlags::reassoc);
  case ReduceKind::Max:
    return emitter.pick<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>();
  case ReduceKind::Min:
    return emitter.pick<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>();
  case ReduceKind::And:
    return arith::AndIOp::create(b, loc, lhs, rhs);
  case ReduceKind::Or:
    return arith::OrIOp::create(b, loc, lhs, rhs);
  }
  return {};
}

Value emitNeutral(OpBuilder &b, Location loc, ReduceKind kind,
                  Type elementType) {
  if (kind == ReduceKind::Sum &&
      // Some formats have no zero, but their type in registers has a zero.
      isSmallFloat(elementType))
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  TypedAttr neutral = neutralElement(kind, elementType);
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return ComplexEmitter{b, loc}.number(
        complex, cast<FloatAttr>(neutral).getValueAsDouble());
  if (auto integer = dyn_cast<IntegerAttr>(neutral))
    neutral = IntegerAttr::get(computeType(elementType), integer.getValue());
  else if (isSmallFloat(elementType))
    neutral = smallConstant(cast<FloatAttr>(neutral).getValue(), elementType);
  return arith::ConstantOp::create(b, loc, neutral);
}

Value emitAbsent(OpBuilder &b, Location loc, ReduceKind kind,
                 Type elementType) {
  auto number = dyn_cast_or_null<FloatAttr>(absentElement(kind, elementType));
  if (!number || !number.getValue().isNegZero())
    return emitNeutral(b, loc, kind, elementType);
  if (isSmallFloat(elementType))
    number = smallConstant(number.getValue(), elementType);
  Value absent = arith::ConstantOp::create(b, loc, number);
  return isa<ComplexType>(elementType)
             ? ComplexEmitter{b, loc}.make(absent, absent)
             : absent;
}

FailureOr<Value> operandElement(ElementEmitter &emitter, Value operand,
                                ArrayRef<Value> dims, Type wanted) {
  FailureOr<Value> value =
      emitter.element(operand, emitter.makeIndex(dims, emitter.depth()));
  if (failed(value))
    return failure();
  emitter.enterDepth(emitter.depth());
  return extendScalar(emitter.builder, emitter.loc,
                      typeOf(operand).getElementType(), wanted, *value);
}

Value zeroOf(LoopNest &nest, Type elementType) {
  return emitNeutral(nest.builder, nest.loc, ReduceKind::Sum, elementType);
}

Value emitProduct(LoopNest &nest, Type elementType, Value x, Value y) {
  return emitCombine(nest.builder, nest.loc, ReduceKind::Prod, elementType, x,
                     y);
}

} // namespace weft::elements
