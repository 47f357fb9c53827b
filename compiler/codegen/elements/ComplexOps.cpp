//===- ComplexOps.cpp - complex numbers on registers ----------------------===//

#include "weft/compiler/codegen/elements/ComplexOps.h"

#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace weft::elements {

Value ComplexEmitter::make(Value re, Value im) const {
  return complex::CreateOp::create(b, loc, ComplexType::get(re.getType()), re,
                                   im);
}
Value ComplexEmitter::number(ComplexType type, double value) const {
  Type component = type.getElementType();
  Value re =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(component, value));
  return make(re,
              arith::ConstantOp::create(b, loc, b.getFloatAttr(component, 0)));
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
Value ComplexEmitter::inverse(Value x) const {
  return divide(number(cast<ComplexType>(x.getType()), 1), x);
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

Value ComplexEmitter::convert(Type from, Type to, Value x) const {
  auto convertComponent = [&](Value component, Type source, Type target) {
    return convertScalar(b, loc, source, target, component);
  };
  Type fromComponent = componentType(from), toComponent = componentType(to);
  if (!isa<ComplexType>(to)) {
    if (!to.isInteger(1))
      return convertComponent(re(x), fromComponent, to);
    return arith::OrIOp::create(b, loc,
                                convertComponent(re(x), fromComponent, to),
                                convertComponent(im(x), fromComponent, to));
  }
  if (!isa<ComplexType>(from)) {
    Value zero =
        arith::ConstantOp::create(b, loc, b.getFloatAttr(toComponent, 0));
    return make(convertComponent(x, from, toComponent), zero);
  }
  return make(convertComponent(re(x), fromComponent, toComponent),
              convertComponent(im(x), fromComponent, toComponent));
}

Value ComplexEmitter::compare(CompareKind kind, Value x, Value y) const {
  bool equal = kind == CompareKind::EQ;
  auto predicate =
      equal ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::UNE;
  Value reals = arith::CmpFOp::create(b, loc, predicate, re(x), re(y));
  Value others = arith::CmpFOp::create(b, loc, predicate, im(x), im(y));
  return equal ? arith::AndIOp::create(b, loc, reals, others).getResult()
               : arith::OrIOp::create(b, loc, reals, others).getResult();
}

Value ComplexEmitter::logistic(Value x) const {
  Value one = number(cast<ComplexType>(x.getType()), 1);
  Value negated = complex::NegOp::create(b, loc, x);
  return divide(one, add(one, complex::ExpOp::create(b, loc, negated)));
}

Value ComplexEmitter::log1p(Value x) const {
  Type component = cast<ComplexType>(x.getType()).getElementType();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(component, value));
  };
  auto add = [&](Value p, Value q) -> Value {
    return arith::AddFOp::create(b, loc, p, q);
  };
  auto mul = [&](Value p, Value q) -> Value {
    return arith::MulFOp::create(b, loc, p, q);
  };
  Value real = re(x), angle = im(x);
  Value squares = add(mul(real, add(number(2), real)), mul(angle, angle));
  Value size = mul(number(0.5), math::Log1pOp::create(b, loc, squares));
  return make(size, math::Atan2Op::create(b, loc, angle, add(number(1), real)));
}

Value ComplexEmitter::expm1(Value x) const {
  Type component = cast<ComplexType>(x.getType()).getElementType();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(component, value));
  };
  auto mul = [&](Value p, Value q) -> Value {
    return arith::MulFOp::create(b, loc, p, q);
  };
  Value size = re(x), angle = im(x);
  Value grown = math::ExpM1Op::create(b, loc, size),
        half = math::SinOp::create(b, loc, mul(number(0.5), angle));
  Value real = arith::SubFOp::create(
      b, loc, mul(grown, math::CosOp::create(b, loc, angle)),
      mul(number(2), mul(half, half)));
  Value sum = arith::AddFOp::create(b, loc, grown, number(1));
  // This avoids infinity times 0.
  Value isReal = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, angle,
                                       number(0));
  Value imag = arith::SelectOp::create(
      b, loc, isReal, angle, mul(sum, math::SinOp::create(b, loc, angle)));
  return make(real, imag);
}

// 0^y is 1 for y = 0, 0 for a positive y, and else NaN.
Value ComplexEmitter::power(Value x, Value y) const {
  using enum arith::CmpFPredicate;
  auto type = cast<ComplexType>(x.getType());
  Value zero = number(type, 0), one = number(type, 1);
  Value nan = re(number(type, std::numeric_limits<double>::quiet_NaN()));
  auto choose = [&](Value condition, Value p, Value q) -> Value {
    return arith::SelectOp::create(b, loc, condition, p, q);
  };
  auto part = [&](arith::CmpFPredicate kind, Value number) -> Value {
    return arith::CmpFOp::create(b, loc, kind, number, re(zero));
  };
  Value baseIsZero = compare(CompareKind::EQ, x, zero),
        powerIsZero = compare(CompareKind::EQ, y, zero);
  Value isPositive =
      arith::AndIOp::create(b, loc, part(OGT, re(y)), part(OEQ, im(y)));
  Value log = complex::LogOp::create(b, loc, choose(baseIsZero, one, x));
  Value power = complex::ExpOp::create(b, loc, multiply(y, log));
  Value ofZero = choose(isPositive, zero, make(nan, nan));
  return choose(powerIsZero, one, choose(baseIsZero, ofZero, power));
}

} // namespace weft::elements
