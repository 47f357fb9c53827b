//===- Float8.h - floats of eight bits -------------------------*- C++ -*-===//
//
// float8_e5m2 has IEEE's infinities; float8_e4m3fn has none: its largest number
// is 448 (0x7e), and 0x7f is NaN (Micikevicius et al., "FP8 formats for deep
// learning", 2022). What is too large becomes infinity or NaN, as in ml_dtypes.
//
//   e4m3fn  0x38 = 1.0    0x08 = 2^-6, the least normal number   0x01 = 2^-9
//   e5m2    0x3c = 1.0    0x04 = 2^-14                           0x01 = 2^-16
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_FLOAT8_H
#define WEFT_RUNTIME_PROGRAM_FLOAT8_H

#include <cstdint>

namespace weft {

// Static: each vector width of the collectives has its own.

/// `exponentBits` is 4 or 5.
static inline float float8ToFloat(uint8_t bits, int exponentBits) {
  int mantissaBits = 7 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  uint32_t sign = uint32_t(bits & 0x80) << 24;
  uint32_t magnitude = bits & 0x7f, exponent = magnitude >> mantissaBits;
  bool special = exponentBits == 5 ? exponent == 31 : magnitude == 0x7f;
  uint32_t fraction = magnitude & ((1u << mantissaBits) - 1);
  uint32_t wide;
  if (special) {
    wide = 0x7f800000 | (exponentBits == 5 ? fraction << 21 : 0x400000);
  } else if (exponent == 0) {
    // fraction * 2^(1 - bias - mantissaBits)
    float scale = __builtin_bit_cast(float, uint32_t(128 - bias - mantissaBits) << 23);
    wide = __builtin_bit_cast(uint32_t, float(fraction) * scale);
  } else {
    wide = (exponent + 127 - bias) << 23 | fraction << (23 - mantissaBits);
  }
  return __builtin_bit_cast(float, sign | wide);
}

/// The nearest, halves to even.
static inline uint8_t floatToFloat8(float value, int exponentBits) {
  int mantissaBits = 7 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  uint32_t wide = __builtin_bit_cast(uint32_t, value);
  uint8_t sign = uint8_t(wide >> 24 & 0x80);
  uint32_t magnitude = wide & 0x7fffffff;
  uint8_t largest = exponentBits == 5 ? 0x7c : 0x7f; // infinity, NaN
  if (magnitude > 0x7f800000)
    return sign | (exponentBits == 5 ? 0x7e : 0x7f);
  uint32_t least = uint32_t(128 - bias) << 23; // the least normal number
  uint32_t rounded;
  if (magnitude < least) {
    // The sum's last bit is worth the least number: the addition rounds.
    uint32_t anchor = uint32_t(128 - bias + 23 - mantissaBits) << 23;
    float sum = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, anchor);
    rounded = __builtin_bit_cast(uint32_t, sum) - anchor;
  } else {
    int shift = 23 - mantissaBits;
    uint32_t nearest = magnitude + ((1u << (shift - 1)) - 1) + (magnitude >> shift & 1);
    rounded = (nearest >> shift) - (uint32_t(127 - bias) << mantissaBits);
  }
  return sign | uint8_t(rounded > largest ? largest : rounded);
}

} // namespace weft

#endif // WEFT_RUNTIME_PROGRAM_FLOAT8_H
