//===- ScalarOps.cpp - elementwise ops on registers ------------------------===//

#include "weft/compiler/codegen/cpu/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft::cpu {

static bool isUnsigned(Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

int64_t elementBytes(Type elementType) {
  return (elementType.getIntOrFloatBitWidth() + 7) / 8;
}

Type computeType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(integer.getContext(), integer.getWidth());
  return elementType;
}

Type storageType(Type elementType) {
  if (elementType.isInteger(1))
    return IntegerType::get(elementType.getContext(), 8);
  return computeType(elementType);
}

RankedTensorType tensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}
int64_t elementCount(Value tensor) {
  return tensorType(tensor).getNumElements();
}

namespace {
/// Emits one op; `type` is the element type of its first operand.
struct ScalarEmitter {
  OpBuilder &b;
  Location loc;
  Type type;
  ValueRange in;

  bool isFloat() const { return isa<FloatType>(type); }
  Value number(double value) const {
    if (isFloat())
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(computeType(type), int64_t(value)));
  }
  template <typename Float, typename Signed, typename Unsigned = Signed>
  Value pick() const {
    if (isFloat())
      return Float::create(b, loc, in[0], in[1]).getResult();
    if (isUnsigned(type))
      return Unsigned::create(b, loc, in[0], in[1]).getResult();
    return Signed::create(b, loc, in[0], in[1]).getResult();
  }
  template <typename MathOp> Value math() const {
    // The approximations are written for f32; shorter types go through it.
    if (type.getIntOrFloatBitWidth() >= 32)
      return MathOp::create(b, loc, in[0]).getResult();
    Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), in[0]);
    Value result = MathOp::create(b, loc, wide);
    return arith::TruncFOp::create(b, loc, type, result);
  }
  Value compare(arith::CmpFPredicate onFloat, arith::CmpIPredicate onInteger,
                Value x, Value y) const {
    if (isFloat())
      return arith::CmpFOp::create(b, loc, onFloat, x, y);
    return arith::CmpIOp::create(b, loc, onInteger, x, y);
  }
  Value sign() const;
  Value absolute() const;
  Value relu() const;
  Value logistic() const;
  Value shift(bool left) const;
  Value compareOp(CompareKind kind) const;
  Value convert(Type to) const;
  Value unary(Operation *op) const;
  Value binary(Operation *op) const;
};
} // namespace

Value ScalarEmitter::sign() const {
  if (isUnsigned(type)) {
    Value positive = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, in[0], number(0));
    return arith::SelectOp::create(b, loc, positive, number(1), number(0));
  }
  Value above = compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, in[0], number(0));
  Value below = compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, in[0], number(0));
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
  Value keep = compare(arith::CmpFPredicate::UGT, isUnsigned(type) ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt, in[0], number(0));
  return arith::SelectOp::create(b, loc, keep, in[0], number(0));
}

Value ScalarEmitter::logistic() const {
  Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1.0));
  Value negated = arith::NegFOp::create(b, loc, in[0]);
  ScalarEmitter inner{b, loc, type, ValueRange(negated)};
  Value sum = arith::AddFOp::create(b, loc, one, inner.math<math::ExpOp>());
  return arith::DivFOp::create(b, loc, one, sum);
}

Value ScalarEmitter::shift(bool left) const {
  Value width = number(type.getIntOrFloatBitWidth());
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, in[1], width);
  Value shifted = left ? arith::ShLIOp::create(b, loc, in[0], in[1]).getResult()
                       : arith::ShRUIOp::create(b, loc, in[0], in[1]).getResult();
  return arith::SelectOp::create(b, loc, inside, shifted, number(0));
}

Value ScalarEmitter::compareOp(CompareKind kind) const {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  bool u = isUnsigned(type);
  switch (kind) {
  case CompareKind::EQ: return compare(F::OEQ, I::eq, in[0], in[1]);
  case CompareKind::NE: return compare(F::UNE, I::ne, in[0], in[1]);
  case CompareKind::LT: return compare(F::OLT, u ? I::ult : I::slt, in[0], in[1]);
  case CompareKind::LE: return compare(F::OLE, u ? I::ule : I::sle, in[0], in[1]);
  case CompareKind::GT: return compare(F::OGT, u ? I::ugt : I::sgt, in[0], in[1]);
  case CompareKind::GE: return compare(F::OGE, u ? I::uge : I::sge, in[0], in[1]);
  }
  return {};
}

Value ScalarEmitter::convert(Type to) const {
  Type result = computeType(to);
  if (to.isInteger(1))
    return compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, in[0], number(0));
  if (isFloat() && isa<FloatType>(to)) {
    unsigned from = type.getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
    if (from < width)
      return arith::ExtFOp::create(b, loc, result, in[0]);
    if (from > width)
      return arith::TruncFOp::create(b, loc, result, in[0]);
    if (type == to)
      return in[0];
    Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), in[0]);
    return arith::TruncFOp::create(b, loc, result, wide);
  }
  if (isFloat())
    return isUnsigned(to) ? arith::FPToUIOp::create(b, loc, result, in[0]).getResult()
                          : arith::FPToSIOp::create(b, loc, result, in[0]).getResult();
  if (isa<FloatType>(to))
    return isUnsigned(type) ? arith::UIToFPOp::create(b, loc, result, in[0]).getResult()
                            : arith::SIToFPOp::create(b, loc, result, in[0]).getResult();
  unsigned from = type.getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (from == width)
    return in[0];
  if (from > width)
    return arith::TruncIOp::create(b, loc, result, in[0]);
  return isUnsigned(type) ? arith::ExtUIOp::create(b, loc, result, in[0]).getResult()
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
      .Case([&](NotOp) -> Value {
        return arith::XOrIOp::create(b, loc, in[0], number(-1));
      })
      .Case([&](ConstrainOp) -> Value { return in[0]; })
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
      .Case([&](DivOp) { return pick<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(); })
      .Case([&](RemOp) { return pick<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(); })
      .Case([&](MaxOp) { return pick<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(); })
      .Case([&](MinOp) { return pick<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(); })
      .Case([&](PowOp) -> Value {
        if (isFloat())
          return math::PowFOp::create(b, loc, in[0], in[1]);
        return math::IPowIOp::create(b, loc, in[0], in[1]);
      })
      .Case([&](AndOp) -> Value { return arith::AndIOp::create(b, loc, in[0], in[1]); })
      .Case([&](OrOp) -> Value { return arith::OrIOp::create(b, loc, in[0], in[1]); })
      .Case([&](XorOp) -> Value { return arith::XOrIOp::create(b, loc, in[0], in[1]); })
      .Case([&](ShiftLeftOp) { return shift(/*left=*/true); })
      .Case([&](ShiftRightLogicalOp) { return shift(/*left=*/false); })
      .Case([&](CompareOp compareOp_) { return compareOp(compareOp_.getKind()); })
      .Default([](Operation *) { return Value(); });
}

bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>();
}

FailureOr<Value> emitScalarOp(OpBuilder &builder, Operation *op,
                              ValueRange operands) {
  Type type = tensorType(op->getOperand(0)).getElementType();
  ScalarEmitter emitter{builder, op->getLoc(), type, operands};
  Value result;
  if (operands.size() == 3)
    result = arith::SelectOp::create(builder, op->getLoc(), operands[0], operands[1], operands[2]);
  else
    result = operands.size() == 1 ? emitter.unary(op) : emitter.binary(op);
  if (!result)
    return op->emitError() << "'" << op->getName() << "' on elements " << type
                           << " has no CPU code";
  return result;
}

Value emitCombine(OpBuilder &b, Location loc, ReduceKind kind, Type elementType,
                  Value lhs, Value rhs) {
  SmallVector<Value> operands{lhs, rhs};
  ScalarEmitter emitter{b, loc, elementType, operands};
  bool isFloat = emitter.isFloat();
  switch (kind) {
  case ReduceKind::Sum:
    if (!isFloat)
      return arith::AddIOp::create(b, loc, lhs, rhs);
    return arith::AddFOp::create(b, loc, lhs, rhs, arith::FastMathFlags::reassoc);
  case ReduceKind::Prod:
    if (!isFloat)
      return arith::MulIOp::create(b, loc, lhs, rhs);
    return arith::MulFOp::create(b, loc, lhs, rhs, arith::FastMathFlags::reassoc);
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
  TypedAttr neutral = neutralElement(kind, elementType);
  if (auto integer = dyn_cast<IntegerAttr>(neutral))
    neutral = IntegerAttr::get(computeType(elementType), integer.getValue());
  return arith::ConstantOp::create(b, loc, neutral);
}

Value emitThreefry(OpBuilder &b, Location loc, Value key0, Value key1,
                   Value high, Value low) {
  auto number = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
  };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
  auto exclusiveOr = [&](Value x, Value y) -> Value { return arith::XOrIOp::create(b, loc, x, y); };
  Value keys[3] = {key0, key1, exclusiveOr(exclusiveOr(key0, key1), number(0x1BD11BDA))};
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
