//===- ScalarOps.cpp - elementwise ops on registers -----------------------===//

#include "weft/compiler/codegen/cpu/ComplexOps.h"
#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/compiler/codegen/cpu/ScalarEmitter.h"
#include "weft/compiler/codegen/cpu/SmallFloatOps.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace weft::cpu {

Type computeType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(integer.getContext(), integer.getWidth());
  return scalarType(elementType);
}

Type storageType(Type elementType) {
  if (isSmallFloat(elementType) ||
      (elementType.isInteger() && elementType.getIntOrFloatBitWidth() < 8))
    return IntegerType::get(elementType.getContext(), 8);
  return computeType(elementType);
}

RankedTensorType tensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}
int64_t elementCount(Value tensor) {
  return tensorType(tensor).getNumElements();
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
  // Zeros and NaN stay.
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

/// On the bits: rounds the mantissa to even, then looks at the exponent. As
/// the largest numbers round up into the exponent, this gives infinity.
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
    // Out of range gives the nearest integer, NaN 0.
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

Value ScalarEmitter::unary(Operation *op) const {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](NegOp) -> Value {
        if (isFloat())
          return arith::NegFOp::create(b, loc, in[0]);
        return arith::SubIOp::create(b, loc, number(0), in[0]);
      })
      .Case([&](AbsOp) { return absolute(); })
      .Case([&](SignOp) { return sign(); })
      .Case([&](ReluOp) { return relu(); })
      .Case([&](LogisticOp) { return logistic(); })
      .Case([&](ExpOp) { return math<math::ExpOp>(); })
      .Case([&](Expm1Op) { return math<math::ExpM1Op>(); })
      .Case([&](LogOp) { return math<math::LogOp>(); })
      .Case([&](Log1pOp) { return math<math::Log1pOp>(); })
      .Case([&](SqrtOp) { return math<math::SqrtOp>(); })
      .Case([&](RsqrtOp) -> Value {
        Value root = math<math::SqrtOp>();
        return arith::DivFOp::create(b, loc, number(1), root);
      })
      .Case([&](TanhOp) { return math<math::TanhOp>(); })
      .Case([&](ErfOp) { return math<math::ErfOp>(); })
      .Case([&](FloorOp) { return math<math::FloorOp>(); })
      .Case([&](CeilOp) { return math<math::CeilOp>(); })
      .Case([&](RoundOp) { return math<math::RoundOp>(); })
      .Case([&](RoundEvenOp) { return math<math::RoundEvenOp>(); })
      .Case([&](CbrtOp) { return math<math::CbrtOp>(); })
      .Case([&](SinOp) { return math<math::SinOp>(); })
      .Case([&](CosOp) { return math<math::CosOp>(); })
      .Case([&](TanOp) { return math<math::TanOp>(); })
      .Case([&](IsFiniteOp) { return isFinite(); })
      .Case([&](ReducePrecisionOp reduce) {
        return reducePrecision(reduce.getExponentBits(),
                               reduce.getMantissaBits());
      })
      .Case([&](PopulationCountOp) -> Value {
        return math::CtPopOp::create(b, loc, in[0]);
      })
      .Case([&](CountLeadingZerosOp) -> Value {
        return math::CountLeadingZerosOp::create(b, loc, in[0]);
      })
      .Case([&](NotOp) -> Value {
        return arith::XOrIOp::create(b, loc, in[0], number(-1));
      })
      .Case<ConstrainOp, StopGradientOp, ConjOp>(
          [&](auto) -> Value { return in[0]; })
      .Case([&](ConvertOp convertOp) {
        return convert(convertOp.getResult().getType().getElementType());
      })
      .Case([&](BitcastOp bitcast) -> Value {
        Type to = computeType(bitcast.getResult().getType().getElementType());
        if (to == in[0].getType())
          return in[0];
        return arith::BitcastOp::create(b, loc, to, in[0]);
      })
      .Default([](Operation *) { return Value(); });
}

Value ScalarEmitter::binary(Operation *op) const {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddOp) { return pick<arith::AddFOp, arith::AddIOp>(); })
      .Case([&](SubOp) { return pick<arith::SubFOp, arith::SubIOp>(); })
      .Case([&](MulOp) { return pick<arith::MulFOp, arith::MulIOp>(); })
      .Case([&](DivOp) { return divide(/*remainder=*/false); })
      .Case([&](RemOp) { return divide(/*remainder=*/true); })
      .Case([&](Atan2Op) -> Value {
        if (type.getIntOrFloatBitWidth() >= 32)
          return math::Atan2Op::create(b, loc, in[0], in[1]);
        Value y = arith::ExtFOp::create(b, loc, b.getF32Type(), in[0]),
              x = arith::ExtFOp::create(b, loc, b.getF32Type(), in[1]);
        return arith::TruncFOp::create(b, loc, type,
                                       math::Atan2Op::create(b, loc, y, x));
      })
      .Case([&](ShiftRightArithmeticOp) { return shiftArithmetic(); })
      .Case([&](MaxOp) {
        return pick<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>();
      })
      .Case([&](MinOp) {
        return pick<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>();
      })
      .Case([&](PowOp) -> Value {
        if (isFloat())
          return math::PowFOp::create(b, loc, in[0], in[1]);
        return integerPower();
      })
      .Case([&](AndOp) -> Value {
        return arith::AndIOp::create(b, loc, in[0], in[1]);
      })
      .Case([&](OrOp) -> Value {
        return arith::OrIOp::create(b, loc, in[0], in[1]);
      })
      .Case([&](XorOp) -> Value {
        return arith::XOrIOp::create(b, loc, in[0], in[1]);
      })
      .Case([&](ShiftLeftOp) { return shift(/*left=*/true); })
      .Case([&](ShiftRightLogicalOp) { return shift(/*left=*/false); })
      .Case([&](CompareOp op) { return compareOp(op.getKind()); })
      .Default([](Operation *) { return Value(); });
}

bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>();
}

/// Bytes of small floats are not their registers' bits.
static Value emitSmallFloatBits(OpBuilder &b, BitcastOp op, Value value) {
  Location loc = op.getLoc();
  Type from = tensorType(op.getInput()).getElementType(),
       to = tensorType(op.getResult()).getElementType();
  Type byte = b.getI8Type(), integer = computeType(to);
  Value bits = isSmallFloat(from) ? smallToBits(b, loc, from, value) : value;
  if (isSmallFloat(to))
    return smallFromBits(b, loc, to,
                         bits.getType() == byte
                             ? bits
                             : arith::ExtUIOp::create(b, loc, byte, bits));
  return bits.getType() == integer
             ? bits
             : arith::TruncIOp::create(b, loc, integer, bits);
}

FailureOr<Value> emitScalarOp(OpBuilder &builder, Operation *op,
                              ValueRange operands) {
  Type type = scalarType(tensorType(op->getOperand(0)).getElementType());
  Type resultType = tensorType(op->getResult(0)).getElementType();
  if (auto bitcast = dyn_cast<BitcastOp>(op);
      bitcast && bytesOf(resultType) == 1)
    return emitSmallFloatBits(builder, bitcast, operands[0]);
  ScalarEmitter emitter{builder, op->getLoc(), type, operands};
  Value result;
  if (hasComplex(op))
    result = emitComplexOp(builder, op, operands);
  else if (isa<ClampOp>(op))
    result = ScalarEmitter{builder, op->getLoc(), type, operands}.clamp();
  else if (operands.size() == 3)
    result = arith::SelectOp::create(builder, op->getLoc(), operands[0],
                                     operands[1], operands[2]);
  else
    result = operands.size() == 1 ? emitter.unary(op) : emitter.binary(op);
  if (!result)
    return op->emitError() << "'" << op->getName() << "' on elements " << type
                           << " has no CPU code";
  return roundedTo(builder, op->getLoc(), resultType, result);
}

Value convertScalar(OpBuilder &builder, Location loc, Type from, Type to,
                    Value value) {
  return ScalarEmitter{builder, loc, scalarType(from), ValueRange(value)}
      .convert(to);
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
      isSmallFloat(elementType)) // not each has a zero, their register does
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

Value emitThreefry(OpBuilder &b, Location loc, Value key0, Value key1,
                   Value high, Value low) {
  auto number = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     b.getI32IntegerAttr(int32_t(value)));
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, loc, x, y);
  };
  auto exclusiveOr = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(b, loc, x, y);
  };
  Value keys[3] = {key0, key1,
                   exclusiveOr(exclusiveOr(key0, key1), number(0x1BD11BDA))};
  static const unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value x0 = add(high, keys[0]), x1 = add(low, keys[1]);
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned distance : rotations[group % 2]) {
      x0 = add(x0, x1);
      Value up = arith::ShLIOp::create(b, loc, x1, number(distance));
      Value down = arith::ShRUIOp::create(b, loc, x1, number(32 - distance));
      x1 = exclusiveOr(x0, arith::OrIOp::create(b, loc, up, down));
    }
    x0 = add(x0, keys[(group + 1) % 3]);
    x1 = add(x1, add(keys[(group + 2) % 3], number(group + 1)));
  }
  return exclusiveOr(x0, x1);
}

} // namespace weft::cpu
