//===- SmallFloatOps.cpp - floats of at most eight bits -------------------===//

#include "weft/compiler/codegen/elements/SmallFloatOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using llvm::APFloat;

namespace weft::elements {

namespace {
/// The bits that encode infinity and NaN, as in base/SmallFloats.h.
enum class Special { Infinities, NanOnes, NanZero, None, Exponent };

Special specialOf(Type type) {
  if (isa<Float8E8M0FNUType>(type))
    return Special::Exponent;
  if (isa<Float4E2M1FNType>(type))
    return Special::None;
  if (isa<Float8E4M3FNType>(type))
    return Special::NanOnes;
  return isa<Float8E5M2Type, Float8E4M3Type, Float8E3M4Type>(type)
             ? Special::Infinities
             : Special::NanZero;
}

/// Arithmetic on the bits of an f32, or of a vector of them.
struct BitEmitter {
  OpBuilder &b;
  Location loc;
  VectorType vector; ///< null for a single f32
  Special special;
  int width, mantissaBits, bias;

  BitEmitter(OpBuilder &b [[clang::lifetimebound]], Location loc, Type type,
             Value of)
      : b(b), loc(loc), vector(dyn_cast<VectorType>(of.getType())),
        special(specialOf(type)) {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(type).getFloatSemantics();
    width = APFloat::semanticsSizeInBits(semantics);
    mantissaBits = APFloat::semanticsPrecision(semantics) - 1;
    bias = 1 - APFloat::semanticsMinExponent(semantics);
  }
  uint32_t signBit() const { return 1u << (width - 1); }
  uint32_t mask() const { return signBit() - 1; }
  uint32_t infinity() const { return mask() >> mantissaBits << mantissaBits; }

  Type shaped(Type type) const {
    return vector ? VectorType::get(vector.getShape(), type) : type;
  }
  Value constant(TypedAttr value) const {
    if (vector)
      value = DenseElementsAttr::get(cast<VectorType>(shaped(value.getType())),
                                     Attribute(value));
    return arith::ConstantOp::create(b, loc, value);
  }
  Value number(uint32_t value) const {
    return constant(b.getI32IntegerAttr(int32_t(value)));
  }
  Value both(Value x, uint32_t mask) const {
    return arith::AndIOp::create(b, loc, x, number(mask));
  }
  Value either(Value x, Value y) const {
    return arith::OrIOp::create(b, loc, x, y);
  }
  Value left(Value x, int by) const {
    return arith::ShLIOp::create(b, loc, x, number(by));
  }
  Value right(Value x, int by) const {
    return arith::ShRUIOp::create(b, loc, x, number(by));
  }
  Value add(Value x, Value y) const {
    return arith::AddIOp::create(b, loc, x, y);
  }
  Value equal(Value x, uint32_t y) const {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x,
                                 number(y));
  }
  Value below(Value x, uint32_t limit) const {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x,
                                 number(limit));
  }
  Value above(Value x, uint32_t limit) const {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, x,
                                 number(limit));
  }
  Value choose(Value condition, Value x, Value y) const {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value asFloat(Value bits) const {
    return arith::BitcastOp::create(b, loc, shaped(b.getF32Type()), bits);
  }
  Value asBits(Value x) const {
    return arith::BitcastOp::create(b, loc, shaped(b.getI32Type()), x);
  }
  Value real(float value) const { return constant(b.getF32FloatAttr(value)); }

  Value fromExponent(Value x) const;
  Value toExponent(Value x) const;
  Value numberFromMagnitude(Value magnitude) const;
  Value roundMagnitude(Value magnitude) const;
  Value nan(Value sign, Value magnitude) const;
};
} // namespace

/// The f32 2^(x - 127), whose exponent bits are x; x = 0 gives a subnormal
/// number, x = 255 NaN.
Value BitEmitter::fromExponent(Value x) const {
  Value power = choose(equal(x, 0), number(0x400000), left(x, 23));
  return choose(equal(x, 0xff), number(0x7fc00000), power);
}

/// The nearest exponent x of fromExponent, halves up, but 1 for all between x =
/// 0 and 1; values that are not positive give NaN.
Value BitEmitter::toExponent(Value x) const {
  Value half = choose(below(x, 0x800000), number(0x3fffff), number(0x400000));
  Value isNumber =
      below(arith::SubIOp::create(b, loc, x, number(1)), 0x7f800000);
  return choose(isNumber, right(add(x, half), 23), number(0xff));
}

Value BitEmitter::numberFromMagnitude(Value magnitude) const {
  // Normal numbers: the exponent is shifted to its position and biased again.
  // Subnormal numbers are multiples of the least number.
  Value normal = add(left(magnitude, 23 - mantissaBits),
                     number(uint32_t(127 - bias) << 23));
  float least =
      __builtin_bit_cast(float, uint32_t(128 - bias - mantissaBits) << 23);
  Value small = asBits(arith::MulFOp::create(
      b, loc,
      arith::UIToFPOp::create(b, loc, shaped(b.getF32Type()), magnitude),
      real(least)));
  return choose(below(magnitude, 1u << mantissaBits), small, normal);
}

Value BitEmitter::roundMagnitude(Value magnitude) const {
  // Subnormal numbers: the anchor's last bit has the value of the least number,
  // so that the addition rounds.
  uint32_t anchor = uint32_t(151 - bias - mantissaBits) << 23;
  Value sum = arith::AddFOp::create(b, loc, asFloat(magnitude),
                                    asFloat(number(anchor)));
  Value small = arith::SubIOp::create(b, loc, asBits(sum), number(anchor));
  int shift = 23 - mantissaBits;
  Value odd = both(right(magnitude, shift), 1);
  Value nearest =
      right(add(add(magnitude, number((1u << (shift - 1)) - 1)), odd), shift);
  Value normal = arith::SubIOp::create(
      b, loc, nearest, number(uint32_t(127 - bias) << mantissaBits));
  return choose(below(magnitude, uint32_t(128 - bias) << 23), small, normal);
}

FloatAttr smallConstant(const APFloat &value, Type type) {
  auto f32 = Float32Type::get(type.getContext());
  if (!isa<Float8E8M0FNUType>(type))
    return FloatAttr::get(f32, FloatAttr::get(type, value).getValueAsDouble());
  uint32_t bits = value
                      .bitcastToAPInt()
                      // APFloat converts the type's NaN to infinity.
                      .getZExtValue();
  uint32_t wide = bits == 0xff ? 0x7fc00000 : bits == 0 ? 0x400000 : bits << 23;
  return FloatAttr::get(f32, APFloat(__builtin_bit_cast(float, wide)));
}

/// The NaN of the type, or -0 if it has none; formats with IEEE's encoding keep
/// the fraction, so that bits are preserved.
Value BitEmitter::nan(Value sign, Value magnitude) const {
  if (special == Special::None)
    return number(signBit());
  if (special == Special::NanOnes)
    return either(sign, number(mask()));
  Value fraction =
      both(right(magnitude, 23 - mantissaBits), mask() - infinity());
  fraction =
      choose(equal(fraction, 0), number(1u << (mantissaBits - 1)), fraction);
  return either(sign, either(fraction, number(infinity())));
}

Value smallFromBits(OpBuilder &b, Location loc, Type type, Value bits) {
  BitEmitter e(b, loc, type, bits);
  Value x = arith::ExtUIOp::create(b, loc, e.shaped(b.getI32Type()), bits);
  if (e.special == Special::Exponent)
    return e.asFloat(e.fromExponent(x));
  Value sign = e.left(e.both(x, e.signBit()), 32 - e.width),
        magnitude = e.both(x, e.mask());
  Value finite = e.numberFromMagnitude(magnitude);
  Value nan = e.number(0x7fc00000);
  if (e.special == Special::Infinities) {
    Value fraction =
        e.left(e.both(magnitude, e.mask() - e.infinity()), 23 - e.mantissaBits);
    finite = e.choose(e.below(magnitude, e.infinity()), finite,
                      e.either(fraction, e.number(0x7f800000)));
  } else if (e.special == Special::NanOnes) {
    finite = e.choose(e.equal(magnitude, e.mask()), nan, finite);
  } else if (e.special == Special::NanZero) {
    finite = e.choose(e.equal(x, e.signBit()), nan, finite);
  }
  return e.asFloat(e.either(sign, finite));
}

Value smallToBits(OpBuilder &b, Location loc, Type type, Value value) {
  BitEmitter e(b, loc, type, value);
  Value bits = e.asBits(value);
  if (e.special == Special::Exponent)
    return arith::TruncIOp::create(b, loc, e.shaped(b.getI8Type()),
                                   e.toExponent(bits));
  Value sign = e.both(e.right(bits, 32 - e.width), e.signBit()),
        magnitude = e.both(bits, 0x7fffffff);
  Value rounded = e.roundMagnitude(magnitude),
        isNan = e.above(magnitude, 0x7f800000);
  uint32_t largest = e.special == Special::Infinities ? e.infinity() : e.mask();
  Value tooLarge = e.above(rounded, largest), result;
  if (e.special == Special::NanZero) {
    Value unsignedZero =
        e.choose(e.equal(rounded, 0), rounded, e.either(sign, rounded));
    result = e.choose(arith::OrIOp::create(b, loc, tooLarge, isNan),
                      e.number(e.signBit()), unsignedZero);
  } else {
    result = e.either(sign, e.choose(tooLarge, e.number(largest), rounded));
    result = e.choose(isNan, e.nan(sign, magnitude), result);
  }
  return arith::TruncIOp::create(b, loc, e.shaped(b.getI8Type()), result);
}

Value roundedTo(OpBuilder &b, Location loc, Type type, Value value) {
  return isSmallFloat(type)
             ? smallFromBits(b, loc, type, smallToBits(b, loc, type, value))
             : value;
}

} // namespace weft::elements
