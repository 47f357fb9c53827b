//===- ComplexOps.cpp - complex numbers on registers ----------------------===//

#include "weft/compiler/codegen/elements/ComplexOps.h"

#include "weft/compiler/codegen/elements/Number.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

#include <limits>

using namespace mlir;

namespace weft::elements {

namespace {
/// The components of a number.
struct Components {
  Number re, im;
  Components(const ComplexEmitter &c, Value x)
      : re(c.b, c.loc, c.re(x)), im(re.with(c.im(x))) {}
};
} // namespace

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
  Components p(*this, x), q(*this, y);
  return make(p.re + q.re, p.im + q.im);
}
Value ComplexEmitter::subtract(Value x, Value y) const {
  Components p(*this, x), q(*this, y);
  return make(p.re - q.re, p.im - q.im);
}
Value ComplexEmitter::multiply(Value x, Value y) const {
  Components p(*this, x), q(*this, y);
  return make(p.re * q.re - p.im * q.im, p.re * q.im + p.im * q.re);
}
Value ComplexEmitter::divide(Value x, Value y) const {
  return complex::DivOp::create(b, loc, x, y);
}
Value ComplexEmitter::inverse(Value x) const {
  return divide(number(cast<ComplexType>(x.getType()), 1), x);
}
Value ComplexEmitter::conj(Value x) const {
  Components p(*this, x);
  return make(p.re, -p.im);
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
  auto [real, angle] = Components(*this, x);
  Number squares = real * (2 + real) + angle * angle;
  return make(0.5 * squares.make<math::Log1pOp>(squares),
              angle.make<math::Atan2Op>(angle, 1 + real));
}

Value ComplexEmitter::expm1(Value x) const {
  auto [size, angle] = Components(*this, x);
  Number grown = size.make<math::ExpM1Op>(size),
         half = size.make<math::SinOp>(0.5 * angle);
  Number real = grown * angle.make<math::CosOp>(angle) - 2 * (half * half);
  // This avoids infinity times 0.
  Number imag =
      select(angle == 0, angle, (grown + 1) * angle.make<math::SinOp>(angle));
  return make(real, imag);
}

// 0^y is 1 for y = 0, 0 for a positive y, and else NaN.
Value ComplexEmitter::power(Value x, Value y) const {
  auto type = cast<ComplexType>(x.getType());
  Value zero = number(type, 0), one = number(type, 1);
  Components of(*this, y);
  Value nan = of.re.number(std::numeric_limits<double>::quiet_NaN());
  auto choose = [&](Value condition, Value p, Value q) -> Value {
    return arith::SelectOp::create(b, loc, condition, p, q);
  };
  Value baseIsZero = compare(CompareKind::EQ, x, zero),
        powerIsZero = compare(CompareKind::EQ, y, zero);
  Value isPositive = (of.re > 0) & (of.im == 0);
  Value log = complex::LogOp::create(b, loc, choose(baseIsZero, one, x));
  Value power = complex::ExpOp::create(b, loc, multiply(y, log));
  Value ofZero = choose(isPositive, zero, make(nan, nan));
  return choose(powerIsZero, one, choose(baseIsZero, ofZero, power));
}

} // namespace weft::elements
