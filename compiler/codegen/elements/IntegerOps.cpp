//===- IntegerOps.cpp - shifts, quotients and powers of integers ----------===//

#include "weft/compiler/codegen/elements/ScalarEmitter.h"

using namespace mlir;

namespace weft::elements {

Value ScalarEmitter::shift(bool left) const {
  Value width = number(type.getIntOrFloatBitWidth());
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, in[1], width);
  Value shifted =
      left ? arith::ShLIOp::create(b, loc, in[0], in[1]).getResult()
           : arith::ShRUIOp::create(b, loc, in[0], in[1]).getResult();
  return arith::SelectOp::create(b, loc, inside, shifted, number(0));
}

Value ScalarEmitter::shiftArithmetic() const {
  // The largest distance: a shift by the width or more gives all sign bits.
  Value last = number(type.getIntOrFloatBitWidth() - 1);
  Value distance = arith::MinUIOp::create(b, loc, in[1], last);
  return arith::ShRSIOp::create(b, loc, in[0], distance);
}

/// Divides like the interpreter: x / 0 is -1, x rem 0 is x, the least integer
/// over -1 wraps. Nothing traps, so padding may contain anything.
Value ScalarEmitter::divide(bool remainder) const {
  if (isFloat())
    return remainder ? arith::RemFOp::create(b, loc, in[0], in[1]).getResult()
                     : arith::DivFOp::create(b, loc, in[0], in[1]).getResult();
  auto is = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, in[1],
                                 number(value));
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  bool u = isUnsigned(type);
  Value isZero = is(0), isMinusOne = is(-1);
  Value divisor = choose(isZero, number(1), in[1]);
  if (!u)
    divisor = choose(isMinusOne, number(1), divisor);
  Value whenZero = remainder ? in[0] : number(-1);
  if (u) {
    Value result =
        remainder ? arith::RemUIOp::create(b, loc, in[0], divisor).getResult()
                  : arith::DivUIOp::create(b, loc, in[0], divisor).getResult();
    return choose(isZero, whenZero, result);
  }
  Value result =
      remainder ? arith::RemSIOp::create(b, loc, in[0], divisor).getResult()
                : arith::DivSIOp::create(b, loc, in[0], divisor).getResult();
  if (!remainder)
    result = choose(isMinusOne, arith::SubIOp::create(b, loc, number(0), in[0]),
                    result);
  return choose(isZero, whenZero, result);
}

/// The power by squaring, one step for each bit of y. For a negative y, the
/// power of 1 or -1 depends on the lowest bit of y, the power of 0 is -1, as a
/// division by 0 gives, and all other powers are 0.
Value ScalarEmitter::integerPower() const {
  auto bitOf = [&](int64_t bit) -> Value {
    Value shifted = arith::ShRUIOp::create(b, loc, in[1], number(bit));
    Value low = arith::AndIOp::create(b, loc, shifted, number(1));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, low,
                                 number(0));
  };
  Value result = number(1), base = in[0];
  for (unsigned bit = 0; bit < type.getIntOrFloatBitWidth(); ++bit) {
    Value more = arith::MulIOp::create(b, loc, result, base);
    result = arith::SelectOp::create(b, loc, bitOf(bit), more, result);
    base = arith::MulIOp::create(b, loc, base, base);
  }
  if (isUnsigned(type))
    return result;
  auto is = [&](arith::CmpIPredicate predicate, Value x,
                int64_t value) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, number(value));
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  // The powers of 1 and -1 depend on the lowest bit only.
  Value small =
      arith::OrIOp::create(b, loc, is(arith::CmpIPredicate::eq, in[0], 1),
                           is(arith::CmpIPredicate::eq, in[0], -1));
  Value inverse = choose(
      small, result,
      choose(is(arith::CmpIPredicate::eq, in[0], 0), number(-1), number(0)));
  return choose(is(arith::CmpIPredicate::slt, in[1], 0), inverse, result);
}

} // namespace weft::elements
