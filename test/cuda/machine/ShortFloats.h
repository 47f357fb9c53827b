//===- ShortFloats.h - rounding to floats of fewer bits ---------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_MACHINE_SHORTFLOATS_H
#define WEFT_TEST_CUDA_MACHINE_SHORTFLOATS_H

#include <bit>
#include <cstdint>

namespace weft::ptx {

/// The rounding of a result that lies between two floats.
enum class Rounding : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

/// The bits of the float with this many bits of fraction and exponent; NaN is
/// the positive one with all bits of the fraction.
uint64_t encodeFloat(double value, unsigned fraction, unsigned exponent,
                     Rounding rounding);
double decodeHalf(uint16_t bits);
/// The sum a * b + c, whose last bit is set if it is inexact: rounding it to a
/// float of half its bits rounds the exact sum.
double fusedToOdd(double a, double b, double c);

/// IEEE binary16 and bfloat16, whose operations are computed in double and
/// rounded once.
struct Half {
  uint16_t bits;
  static Half of(double value, Rounding rounding = Rounding::NearestEven) {
    return {uint16_t(encodeFloat(value, 10, 5, rounding))};
  }
  operator double() const { return decodeHalf(bits); }
};
struct Brain {
  uint16_t bits;
  static Brain of(double value, Rounding rounding = Rounding::NearestEven) {
    return {uint16_t(encodeFloat(value, 7, 8, rounding))};
  }
  operator double() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_SHORTFLOATS_H
