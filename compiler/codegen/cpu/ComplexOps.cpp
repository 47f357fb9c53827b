//===- ComplexOps.cpp - complex numbers on registers ----------------------===//

#include "weft/compiler/codegen/cpu/ComplexOps.h"

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft::cpu {

Value ComplexEmitter::make(Value re, Value im) const {
  return complex::CreateOp::create(b, loc, ComplexType::get(re.getType()), re,
                                   im);
}
Value ComplexEmitter::number(ComplexType type, double value) const {
  Type part = type.getElementType();
  Value re = arith::ConstantOp::create(b, loc, b.getFloatAttr(part, value));
  return make(re, arith::ConstantOp::create(b, loc, b.getFloatAttr(part, 0)));
}
Value ComplexEmitter::re(Value x) const {
  return complex::ReOp::create(b, loc, x);
}
Value ComplexEmitter::im(Value x) const {
  return complex::ImOp::create(b, loc, x);
}

Value ComplexEmitter::add(Value x, Value y) const {
  auto sum = [&](Value p, Value q) -> Value {
    return arith::AddFOp::create(b, loc, p, q);
  };
  return make(sum(re(x), re(y)), sum(im(x), im(y)));
}
Value ComplexEmitter::subtract(Value x, Value y) const {
  auto difference = [&](Value p, Value q) -> Value {
    return arith::SubFOp::create(b, loc, p, q);
  };
  return make(difference(re(x), re(y)), difference(im(x), im(y)));
}
Value ComplexEmitter::multiply(Value x, Value y) const {
  auto product = [&](Value p, Value q) -> Value {
    return arith::MulFOp::create(b, loc, p, q);
  };
  Value a = re(x), i = im(x), c = re(y), k = im(y);
  Value real = arith::SubFOp::create(b, loc, product(a, c), product(i, k));
  Value imaginary = arith::AddFOp::create(b, loc, product(a, k), product(i, c));
  return make(real, imaginary);
}
Value ComplexEmitter::divide(Value x, Value y) const {
  return complex::DivOp::create(b, loc, x, y);
}
Value ComplexEmitter::conj(Value x) const {
  return make(re(x), arith::NegFOp::create(b, loc, im(x)));
}

bool hasComplex(Operation *op) {
  auto isComplex = [](Type type) {
    return isa<ComplexType>(getElementTypeOrSelf(type));
  };
  return llvm::any_of(op->getOperandTypes(), isComplex) ||
         llvm::any_of(op->getResultTypes(), isComplex);
}

/// To complex numbers, or from them: the real part, or whether any is not 0.
static Value emitConvert(const ComplexEmitter &c, ConvertOp op, Value x) {
  Type from = tensorType(op.getInput()).getElementType(),
       to = tensorType(op.getResult()).getElementType();
  auto convertPart = [&](Value part, Type source, Type target) {
    return convertScalar(c.b, c.loc, source, target, part);
  };
  Type fromPart = partType(from), toPart = partType(to);
  if (!isa<ComplexType>(to)) {
    if (!to.isInteger(1))
      return convertPart(c.re(x), fromPart, to);
    return arith::OrIOp::create(c.b, c.loc, convertPart(c.re(x), fromPart, to),
                                convertPart(c.im(x), fromPart, to));
  }
  if (!isa<ComplexType>(from)) {
    Value zero =
        arith::ConstantOp::create(c.b, c.loc, c.b.getFloatAttr(toPart, 0));
    return c.make(convertPart(x, from, toPart), zero);
  }
  return c.make(convertPart(c.re(x), fromPart, toPart),
                convertPart(c.im(x), fromPart, toPart));
}

static Value emitCompare(const ComplexEmitter &c, CompareKind kind, Value x,
                         Value y) {
  bool equal = kind == CompareKind::EQ;
  auto predicate =
      equal ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::UNE;
  Value re = arith::CmpFOp::create(c.b, c.loc, predicate, c.re(x), c.re(y));
  Value im = arith::CmpFOp::create(c.b, c.loc, predicate, c.im(x), c.im(y));
  return equal ? arith::AndIOp::create(c.b, c.loc, re, im).getResult()
               : arith::OrIOp::create(c.b, c.loc, re, im).getResult();
}

static Value emitLogistic(const ComplexEmitter &c, Value x) {
  Value one = c.number(cast<ComplexType>(x.getType()), 1);
  Value negated = complex::NegOp::create(c.b, c.loc, x);
  return c.divide(one, c.add(one, complex::ExpOp::create(c.b, c.loc, negated)));
}

/// log(1 + x) and e^x - 1 have terms that cancel near 0: these do not.
static Value emitLog1p(const ComplexEmitter &c, Value x) {
  OpBuilder &b = c.b;
  Type part = cast<ComplexType>(x.getType()).getElementType();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, c.loc, b.getFloatAttr(part, value));
  };
  auto add = [&](Value p, Value q) -> Value {
    return arith::AddFOp::create(b, c.loc, p, q);
  };
  auto mul = [&](Value p, Value q) -> Value {
    return arith::MulFOp::create(b, c.loc, p, q);
  };
  Value re = c.re(x), im = c.im(x);
  Value squares = add(mul(re, add(number(2), re)), mul(im, im));
  Value size = mul(number(0.5), math::Log1pOp::create(b, c.loc, squares));
  return c.make(size, math::Atan2Op::create(b, c.loc, im, add(number(1), re)));
}

static Value emitExpm1(const ComplexEmitter &c, Value x) {
  OpBuilder &b = c.b;
  Type part = cast<ComplexType>(x.getType()).getElementType();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, c.loc, b.getFloatAttr(part, value));
  };
  auto mul = [&](Value p, Value q) -> Value {
    return arith::MulFOp::create(b, c.loc, p, q);
  };
  Value re = c.re(x), im = c.im(x);
  Value grown = math::ExpM1Op::create(b, c.loc, re),
        half = math::SinOp::create(b, c.loc, mul(number(0.5), im));
  Value real = arith::SubFOp::create(
      b, c.loc, mul(grown, math::CosOp::create(b, c.loc, im)),
      mul(number(2), mul(half, half)));
  Value whole = arith::AddFOp::create(b, c.loc, grown, number(1));
  return c.make(real, mul(whole, math::SinOp::create(b, c.loc, im)));
}

/// The result's type is the operand's but for the parts.
static Value emitUnary(const ComplexEmitter &c, Operation *op, Value x) {
  OpBuilder &b = c.b;
  Location loc = c.loc;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](NegOp) -> Value { return complex::NegOp::create(b, loc, x); })
      .Case([&](ConjOp) { return c.conj(x); })
      .Case<ConstrainOp, StopGradientOp>([&](auto) { return x; })
      .Case([&](AbsOp) -> Value { return complex::AbsOp::create(b, loc, x); })
      .Case([&](RealOp) { return c.re(x); })
      .Case([&](ImagOp) { return c.im(x); })
      .Case([&](SignOp) -> Value { return complex::SignOp::create(b, loc, x); })
      .Case([&](ExpOp) -> Value { return complex::ExpOp::create(b, loc, x); })
      .Case([&](Expm1Op) { return emitExpm1(c, x); })
      .Case([&](LogOp) -> Value { return complex::LogOp::create(b, loc, x); })
      .Case([&](Log1pOp) { return emitLog1p(c, x); })
      .Case([&](SqrtOp) -> Value { return complex::SqrtOp::create(b, loc, x); })
      .Case([&](RsqrtOp) {
        return c.divide(c.number(cast<ComplexType>(x.getType()), 1),
                        complex::SqrtOp::create(b, loc, x));
      })
      .Case([&](TanhOp) -> Value { return complex::TanhOp::create(b, loc, x); })
      .Case([&](LogisticOp) { return emitLogistic(c, x); })
      .Case([&](SinOp) -> Value { return complex::SinOp::create(b, loc, x); })
      .Case([&](CosOp) -> Value { return complex::CosOp::create(b, loc, x); })
      .Case([&](TanOp) -> Value { return complex::TanOp::create(b, loc, x); })
      .Case([&](ConvertOp convert) { return emitConvert(c, convert, x); })
      .Default([](Operation *) { return Value(); });
}

/// 0 to any power is 0, or 1 where the power is 0.
static Value emitPower(const ComplexEmitter &c, Value x, Value y) {
  auto type = cast<ComplexType>(x.getType());
  Value zero = c.number(type, 0), one = c.number(type, 1);
  auto choose = [&](Value condition, Value p, Value q) -> Value {
    return arith::SelectOp::create(c.b, c.loc, condition, p, q);
  };
  Value baseIsZero = emitCompare(c, CompareKind::EQ, x, zero),
        powerIsZero = emitCompare(c, CompareKind::EQ, y, zero);
  Value log = complex::LogOp::create(c.b, c.loc, choose(baseIsZero, one, x));
  Value power = complex::ExpOp::create(c.b, c.loc, c.multiply(y, log));
  return choose(powerIsZero, one, choose(baseIsZero, zero, power));
}

Value emitComplexOp(OpBuilder &builder, Operation *op, ValueRange in) {
  ComplexEmitter c{builder, op->getLoc()};
  if (in.size() == 1)
    return emitUnary(c, op, in[0]);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](ComplexOp) { return c.make(in[0], in[1]); })
      .Case([&](AddOp) { return c.add(in[0], in[1]); })
      .Case([&](SubOp) { return c.subtract(in[0], in[1]); })
      .Case([&](MulOp) { return c.multiply(in[0], in[1]); })
      .Case([&](DivOp) { return c.divide(in[0], in[1]); })
      .Case([&](PowOp) { return emitPower(c, in[0], in[1]); })
      .Case([&](CompareOp compare) {
        return emitCompare(c, compare.getKind(), in[0], in[1]);
      })
      .Case([&](SelectOp) -> Value {
        return arith::SelectOp::create(builder, op->getLoc(), in[0], in[1],
                                       in[2]);
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace weft::cpu
