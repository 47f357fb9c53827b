//===- SmallFloatOps.cpp - floats of at most eight bits -------------------===//

#include "weft/compiler/codegen/elements/SmallFloatOps.h"

#include "weft/compiler/codegen/elements/Number.h"

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

/// A format, and conversions between its bits and those of f32, in 32 bits.
struct BitEmitter {
  Special special;
  int width, mantissaBits, bias;

  explicit BitEmitter(Type type) : special(specialOf(type)) {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(type).getFloatSemantics();
    width = APFloat::semanticsSizeInBits(semantics);
    mantissaBits = APFloat::semanticsPrecision(semantics) - 1;
    bias = 1 - APFloat::semanticsMinExponent(semantics);
  }
  uint32_t signBit() const { return 1u << (width - 1); }
  uint32_t mask() const { return signBit() - 1; }
  uint32_t infinity() const { return mask() >> mantissaBits << mantissaBits; }

  Number numberFromMagnitude(Number magnitude) const;
  Number roundMagnitude(Number magnitude) const;
  Number nan(Number sign, Number magnitude) const;
};

Number asFloat(Number bits) {
  return bits.to<arith::BitcastOp>(bits.builder().getF32Type());
}
Number asBits(Number x) {
  return x.to<arith::BitcastOp>(x.builder().getI32Type());
}

/// The f32 2^(x - 127), whose exponent bits are x; x = 0 gives a subnormal
/// number, x = 255 NaN.
Number fromExponent(Number x) {
  Number power = select(x == 0, x.integer(0x400000), x << 23);
  return select(x == 0xff, x.integer(0x7fc00000), power);
}

/// The nearest exponent x of fromExponent, halves up, but 1 for all between x =
/// 0 and 1; values that are not positive give NaN.
Number toExponent(Number x) {
  Number half = select(x < 0x800000, x.integer(0x3fffff), x.integer(0x400000));
  return select(x - 1 < 0x7f800000, (x + half) >> 23, x.integer(0xff));
}
} // namespace

Number BitEmitter::numberFromMagnitude(Number magnitude) const {
  // Normal numbers: the exponent is shifted to its position and biased again.
  // Subnormal numbers are multiples of the least number.
  Number normal =
      (magnitude << (23 - mantissaBits)) + (uint32_t(127 - bias) << 23);
  float least =
      __builtin_bit_cast(float, uint32_t(128 - bias - mantissaBits) << 23);
  Number small = asBits(
      magnitude.to<arith::UIToFPOp>(magnitude.builder().getF32Type()) * least);
  return select(magnitude < (1u << mantissaBits), small, normal);
}

Number BitEmitter::roundMagnitude(Number magnitude) const {
  // Subnormal numbers: the anchor's last bit has the value of the least number,
  // so that the addition rounds.
  uint32_t anchor = uint32_t(151 - bias - mantissaBits) << 23;
  Number sum = asFloat(magnitude) + asFloat(magnitude.integer(anchor));
  Number small = asBits(sum) - anchor;
  int shift = 23 - mantissaBits;
  Number odd = (magnitude >> shift) & 1;
  Number nearest = (magnitude + ((1u << (shift - 1)) - 1) + odd) >> shift;
  Number normal = nearest - (uint32_t(127 - bias) << mantissaBits);
  return select(magnitude < (uint32_t(128 - bias) << 23), small, normal);
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
Number BitEmitter::nan(Number sign, Number magnitude) const {
  if (special == Special::None)
    return sign.integer(signBit());
  if (special == Special::NanOnes)
    return sign | sign.integer(mask());
  Number fraction = (magnitude >> (23 - mantissaBits)) & (mask() - infinity());
  fraction =
      select(fraction == 0, sign.integer(1u << (mantissaBits - 1)), fraction);
  return sign | (fraction | sign.integer(infinity()));
}

Value smallFromBits(OpBuilder &b, Location loc, Type type, Value bits) {
  BitEmitter format(type);
  Number x = Number(b, loc, bits).to<arith::ExtUIOp>(b.getI32Type());
  if (format.special == Special::Exponent)
    return asFloat(fromExponent(x));
  Number sign = (x & format.signBit()) << (32 - format.width),
         magnitude = x & format.mask();
  Number finite = format.numberFromMagnitude(magnitude);
  Number nan = x.integer(0x7fc00000);
  if (format.special == Special::Infinities) {
    Number fraction = (magnitude & (format.mask() - format.infinity()))
                      << (23 - format.mantissaBits);
    finite = select(magnitude < format.infinity(), finite,
                    fraction | x.integer(0x7f800000));
  } else if (format.special == Special::NanOnes) {
    finite = select(magnitude == format.mask(), nan, finite);
  } else if (format.special == Special::NanZero) {
    finite = select(x == format.signBit(), nan, finite);
  }
  return asFloat(sign | finite);
}

Value smallToBits(OpBuilder &b, Location loc, Type type, Value value) {
  BitEmitter format(type);
  Number bits = asBits(Number(b, loc, value));
  if (format.special == Special::Exponent)
    return toExponent(bits).to<arith::TruncIOp>(b.getI8Type());
  Number sign = (bits >> (32 - format.width)) & format.signBit(),
         magnitude = bits & 0x7fffffff;
  Number rounded = format.roundMagnitude(magnitude),
         isNan = magnitude > 0x7f800000;
  uint32_t largest =
      format.special == Special::Infinities ? format.infinity() : format.mask();
  Number tooLarge = rounded > largest, result;
  if (format.special == Special::NanZero) {
    Number unsignedZero = select(rounded == 0, rounded, sign | rounded);
    result =
        select(tooLarge | isNan, bits.integer(format.signBit()), unsignedZero);
  } else {
    result = sign | select(tooLarge, bits.integer(largest), rounded);
    result = select(isNan, format.nan(sign, magnitude), result);
  }
  return result.to<arith::TruncIOp>(b.getI8Type());
}

Value roundedTo(OpBuilder &b, Location loc, Type type, Value value) {
  return isSmallFloat(type)
             ? smallFromBits(b, loc, type, smallToBits(b, loc, type, value))
             : value;
}

} // namespace weft::elements
