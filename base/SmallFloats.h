//===- SmallFloats.h - floats of at most eight bits -------------*- C++ -*-===//
//
//   e4m3fn  0x38 = 1.0    0x08 = 2^-6, the least normal number   0x01 = 2^-9
//   e5m2    0x3c = 1.0    0x04 = 2^-14                           0x01 = 2^-16
//   e2m1fn  0x02 = 1.0    0x07 = 6, the largest                  0x01 = 0.5
//   e8m0fnu 0x7f = 1.0    0x80 = 2, powers of two only           0x00 = 2^-127
//
// Formats differ in their bias and in their encodings of infinity and NaN
// (`Special`). Conversions are those of ml_dtypes: to the nearest, ties to even
// (of e8m0fnu up); values that are too large become infinity, NaN or, in a
// format with neither, its largest number; NaN becomes -0 in such a format, as
// in XLA.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_SMALLFLOATS_H
#define WEFT_BASE_SMALLFLOATS_H

#include <stdint.h> // Code for GPUs has no <cstdint>.

namespace weft {

/// The bits that encode infinity and NaN.
enum class Special : uint8_t {
  infinities, ///< as in IEEE 754: all exponent bits set
  nanOnes,    ///< NaN has all bits except the sign set; no infinity ("fn")
  nanZero,    ///< NaN has the bits of -0; no infinity, no -0 ("fnuz")
  none,       ///< no infinity, no NaN
  exponent    ///< no sign, no fraction, no zero; NaN has all bits set
};

struct SmallFloat {
  int width, mantissaBits, bias;
  Special special;
};

#define WEFT_SMALL_FLOAT(NAME, name, Name, format, bits, mantissa, bias,       \
                         special, ...)                                         \
  inline constexpr SmallFloat format{bits, mantissa, bias, Special::special};
#include "weft/base/ElementTypes.def"

// The functions are static, as each vector width of the collectives needs its
// own copy.

static inline float asFloat(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
static inline uint32_t asBits(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

/// Converts the bits of a small float; bits above the format's width are
/// ignored.
static inline float smallToFloat(uint8_t bits, SmallFloat f) {
  constexpr uint32_t nan = 0x7fc00000;
  if (f.special == Special::exponent)
    return asFloat(bits == 0xff ? nan
                   : bits == 0  ? 0x400000
                                : uint32_t(bits) << 23);
  uint32_t signBit = 1u << (f.width - 1), mask = signBit - 1;
  uint32_t sign = bits & signBit, magnitude = bits & mask;
  uint32_t exponent = magnitude >> f.mantissaBits;
  uint32_t fraction = magnitude & ((1u << f.mantissaBits) - 1);
  uint32_t wide;
  if (f.special == Special::infinities && exponent == mask >> f.mantissaBits)
    wide = 0x7f800000 | fraction << (23 - f.mantissaBits);
  else if ((f.special == Special::nanOnes && magnitude == mask) ||
           (f.special == Special::nanZero && sign && !magnitude))
    wide = nan;
  else if (exponent == 0) // fraction * 2^(1 - bias - mantissaBits)
    wide = asBits(float(fraction) *
                  asFloat(uint32_t(128 - f.bias - f.mantissaBits) << 23));
  else
    wide = (exponent + 127 - f.bias) << 23 | fraction << (23 - f.mantissaBits);
  return asFloat(sign << (32 - f.width) | wide);
}

/// The biased exponent of the nearest power of two, halves up, but 2^-126 for
/// all between 2^-127 and it; NaN for values that are not positive.
static inline uint8_t floatToExponent(float value) {
  uint32_t bits = asBits(value);
  if (bits == 0 || bits > 0x7f800000)
    return 0xff;
  // 2^-127 is half of the least normal float, and is not rounded up.
  return uint8_t((bits + 0x3fffff + (bits >= 0x800000)) >> 23);
}

/// Rounds the magnitude's bits, before values that are too large are replaced.
static inline uint32_t roundMagnitude(uint32_t magnitude, SmallFloat f) {
  if (magnitude < uint32_t(128 - f.bias)
                      << 23) { // below the least normal number
    // The anchor's last bit has the value of the least number, so that the
    // addition rounds.
    uint32_t anchor = uint32_t(128 - f.bias + 23 - f.mantissaBits) << 23;
    return asBits(asFloat(magnitude) + asFloat(anchor)) - anchor;
  }
  int shift = 23 - f.mantissaBits;
  uint32_t nearest =
      magnitude + ((1u << (shift - 1)) - 1) + (magnitude >> shift & 1);
  return (nearest >> shift) - (uint32_t(127 - f.bias) << f.mantissaBits);
}

static inline uint8_t floatToSmall(float value, SmallFloat f) {
  if (f.special == Special::exponent)
    return floatToExponent(value);
  uint32_t wide = asBits(value), magnitude = wide & 0x7fffffff;
  uint32_t signBit = 1u << (f.width - 1), mask = signBit - 1;
  uint32_t sign = wide >> (32 - f.width) & signBit;
  bool isNan = magnitude > 0x7f800000;
  uint32_t infinity = (mask >> f.mantissaBits) << f.mantissaBits;
  if (isNan && f.special == Special::infinities) { // NaN keeps its fraction
    uint32_t fraction = magnitude >> (23 - f.mantissaBits) & (mask - infinity);
    return uint8_t(sign | infinity |
                   (fraction ? fraction : 1u << (f.mantissaBits - 1)));
  }
  if (isNan)
    return uint8_t(f.special == Special::nanOnes ? sign | mask : signBit);
  uint32_t rounded = roundMagnitude(magnitude, f);
  uint32_t largest = f.special == Special::infinities ? infinity : mask;
  if (f.special == Special::nanZero && (rounded == 0 || rounded > largest))
    return uint8_t(rounded ? signBit : 0);
  return uint8_t(sign | (rounded > largest ? largest : rounded));
}

} // namespace weft

#endif // WEFT_BASE_SMALLFLOATS_H
