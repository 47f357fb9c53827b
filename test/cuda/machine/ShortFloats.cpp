//===- ShortFloats.cpp - rounding to floats of fewer bits -----------------===//

#include "weft/test/cuda/machine/ShortFloats.h"

#include <algorithm>
#include <cmath>

namespace weft::ptx {

/// Whether rounding off the rest increases the kept bits by one.
static bool roundsUp(uint64_t kept, uint64_t rest, uint64_t half,
                     bool isNegative, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return rest > half || (rest == half && (kept & 1));
  case Rounding::NearestAway:
    return rest >= half;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return isNegative && rest;
  case Rounding::Up:
    return !isNegative && rest;
  }
  return false;
}

uint64_t encodeFloat(double value, unsigned fraction, unsigned exponent,
                     Rounding rounding) {
  auto bits = std::bit_cast<uint64_t>(value);
  bool isNegative = bits >> 63;
  uint64_t sign = uint64_t(isNegative) << (fraction + exponent);
  uint64_t infinity = ((uint64_t(1) << exponent) - 1) << fraction;
  if (std::isnan(value))
    return infinity | ((uint64_t(1) << fraction) - 1);
  if (std::isinf(value))
    return sign | infinity;
  if (value == 0)
    return sign;
  // The value is mantissa * 2^(power - 52). A denormal double is smaller than
  // every short float.
  int power = int(bits >> 52 & 0x7FF) - 1023;
  uint64_t mantissa = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  int least = 2 - (1 << (exponent - 1));
  int shift = std::min(52 - int(fraction) + std::max(0, least - power), 62);
  uint64_t kept = mantissa >> shift;
  uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
  kept +=
      roundsUp(kept, rest, uint64_t(1) << (shift - 1), isNegative, rounding);
  uint64_t result =
      (uint64_t(std::max(power, least) - least) << fraction) + kept;
  if (result < infinity)
    return sign | result;
  bool isCut = rounding == Rounding::Zero ||
               rounding == (isNegative ? Rounding::Up : Rounding::Down);
  return sign | (isCut ? infinity - 1 : infinity);
}

double decodeHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = bits & 1023, value;
  if (exponent == 31)
    value = fraction != 0 ? std::nan("") : HUGE_VAL;
  else if (exponent == 0)
    value = std::ldexp(fraction, -24);
  else
    value = std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

double fusedToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c; // the product is exact
  if (!std::isfinite(sum))
    return sum;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  if (error == 0 || std::bit_cast<uint64_t>(sum) & 1)
    return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

} // namespace weft::ptx
