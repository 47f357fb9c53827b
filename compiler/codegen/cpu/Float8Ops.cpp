//===- Float8Ops.cpp - floats of eight bits on processors without ----------===//

#include "weft/compiler/codegen/cpu/Float8Ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::cpu {

namespace {
/// Arithmetic on the bits of an f32.
struct BitEmitter {
  OpBuilder &b;
  Location loc;
  bool wide; ///< e5m2
  int mantissaBits, bias;

  BitEmitter(OpBuilder &b, Location loc, Type type)
      : b(b), loc(loc), wide(isa<Float8E5M2Type>(type)), mantissaBits(wide ? 2 : 3), bias(wide ? 15 : 7) {}

  Value number(uint32_t value) const { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value))); }
  Value both(Value x, uint32_t mask) const { return arith::AndIOp::create(b, loc, x, number(mask)); }
  Value either(Value x, Value y) const { return arith::OrIOp::create(b, loc, x, y); }
  Value left(Value x, int by) const { return arith::ShLIOp::create(b, loc, x, number(by)); }
  Value right(Value x, int by) const { return arith::ShRUIOp::create(b, loc, x, number(by)); }
  Value add(Value x, Value y) const { return arith::AddIOp::create(b, loc, x, y); }
  Value below(Value x, uint32_t limit) const { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, number(limit)); }
  Value above(Value x, uint32_t limit) const { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, x, number(limit)); }
  Value choose(Value condition, Value x, Value y) const { return arith::SelectOp::create(b, loc, condition, x, y); }
  Value asFloat(Value bits) const { return arith::BitcastOp::create(b, loc, b.getF32Type(), bits); }
  Value asBits(Value x) const { return arith::BitcastOp::create(b, loc, b.getI32Type(), x); }
  Value real(float value) const { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); }
};
} // namespace

Value float8FromBits(OpBuilder &b, Location loc, Type type, Value bits) {
  BitEmitter e(b, loc, type);
  Value x = arith::ExtUIOp::create(b, loc, b.getI32Type(), bits);
  Value sign = e.left(e.both(x, 0x80), 24), magnitude = e.both(x, 0x7f);
  // The exponent moves to its place, less the bias; small numbers have none.
  Value normal = e.add(e.left(magnitude, 23 - e.mantissaBits), e.number(uint32_t(127 - e.bias) << 23));
  float least = __builtin_bit_cast(float, uint32_t(128 - e.bias - e.mantissaBits) << 23);
  Value small = e.asBits(arith::MulFOp::create(b, loc, arith::UIToFPOp::create(b, loc, b.getF32Type(), magnitude), e.real(least)));
  Value finite = e.choose(e.below(magnitude, 1u << e.mantissaBits), small, normal);
  // Infinity and NaN of e5m2, the one NaN of e4m3fn.
  Value special = e.wide ? e.either(e.left(e.both(magnitude, 3), 21), e.number(0x7f800000)) : e.number(0x7fc00000);
  Value isSpecial = e.above(magnitude, e.wide ? 0x7b : 0x7e);
  return e.asFloat(e.either(sign, e.choose(isSpecial, special, finite)));
}

Value float8ToBits(OpBuilder &b, Location loc, Type type, Value value) {
  BitEmitter e(b, loc, type);
  Value x = e.asBits(value), sign = e.both(e.right(x, 24), 0x80), magnitude = e.both(x, 0x7fffffff);
  // Small: added to a number whose last bit is worth the least one.
  uint32_t anchor = uint32_t(151 - e.bias - e.mantissaBits) << 23;
  Value sum = arith::AddFOp::create(b, loc, e.asFloat(magnitude), e.asFloat(e.number(anchor)));
  Value small = arith::SubIOp::create(b, loc, e.asBits(sum), e.number(anchor));
  int shift = 23 - e.mantissaBits;
  Value odd = e.both(e.right(magnitude, shift), 1);
  Value nearest = e.right(e.add(e.add(magnitude, e.number((1u << (shift - 1)) - 1)), odd), shift);
  Value normal = arith::SubIOp::create(b, loc, nearest, e.number(uint32_t(127 - e.bias) << e.mantissaBits));
  Value rounded = e.choose(e.below(magnitude, uint32_t(128 - e.bias) << 23), small, normal);
  uint32_t largest = e.wide ? 0x7c : 0x7f;
  rounded = e.choose(e.above(rounded, largest), e.number(largest), rounded);
  Value result = e.choose(e.above(magnitude, 0x7f800000), e.number(e.wide ? 0x7e : 0x7f), rounded);
  return arith::TruncIOp::create(b, loc, b.getI8Type(), e.either(sign, result));
}

Value roundedTo(OpBuilder &b, Location loc, Type type, Value value) {
  return isFloat8(type) ? float8FromBits(b, loc, type, float8ToBits(b, loc, type, value)) : value;
}

} // namespace weft::cpu
