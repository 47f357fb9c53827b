//===- Threefry.cpp - the random numbers of JAX ---------------------------===//
//
// This file is built with -ffp-contract=off; std::fma is called where XLA fuses.
//
//===----------------------------------------------------------------------===//

#include "weft/base/Threefry.h"

#include <bit>
#include <cmath>
#include <limits>

namespace weft {

std::pair<uint32_t, uint32_t> threefry2x32(uint32_t key0, uint32_t key1,
                                           uint32_t x0, uint32_t x1) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key0, key1, key0 ^ key1 ^ 0x1BD11BDA};
  x0 += keys[0];
  x1 += keys[1];
  for (uint32_t round = 0; round < 5; ++round) {
    for (int rotation : rotations[round % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[(round + 1) % 3];
    x1 += keys[(round + 2) % 3] + round + 1;
  }
  return {x0, x1};
}

/// The float with these bits: XLA's constants, to the last bit.
static constexpr float ofBits(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

/// ln of a positive v as XLA's CPU backend computes it: Cephes' logf, with the
/// products and sums fused that LLVM fuses there.
static float xlaLog(float v) {
  uint32_t bits = std::bit_cast<uint32_t>(std::fmax(v, ofBits(0x00800000)));
  float mantissa = ofBits((bits & 0x807FFFFF) | 0x3F000000); // in [1/2, 1)
  bool low = mantissa < ofBits(0x3F3504F3);                  // sqrt(1/2)
  float exponent = float(int(bits >> 23) - 126) - (low ? 1.0f : 0.0f);
  float x = (mantissa - 1.0f) + (low ? mantissa : 0.0f);
  float square = x * x, cube = square * x;
  auto part = [x](uint32_t a, uint32_t b, uint32_t c) {
    return std::fma(std::fma(x, ofBits(a), ofBits(b)), x, ofBits(c));
  };
  float p = part(0x3D9021BB, 0xBDEBD1B8, 0x3DEF251A);
  p = std::fma(cube, p, part(0xBDFE5D4F, 0x3E11E9BF, 0xBE2AAE50));
  p = std::fma(cube, p, part(0x3E4CCEAC, 0xBE7FFFFC, 0x3EAAAAAA));
  float rest = std::fma(cube, p, exponent * ofBits(0xB95E8083));
  return std::fma(exponent, ofBits(0x3F318000),
                  std::fma(-0.5f, square, x) + rest); // ln 2 in two parts
}

/// ln(1 + t) as XLA's CPU backend computes it: near 0 a quotient of polynomials.
static float xlaLog1p(float t) {
  if (!(std::fabs(t) < ofBits(0x3ED413CD))) // sqrt(2) - 1
    return xlaLog(t + 1.0f);
  constexpr float above[] = {4.52700e-05f,       ofBits(0x3EFF40C5),
                             ofBits(0x40D284FA), ofBits(0x41EF4B9C),
                             ofBits(0x4273CC76), ofBits(0x426473AD),
                             ofBits(0x41A05101)};
  constexpr float below[] = {1.0f,
                             ofBits(0x417101AD),
                             ofBits(0x42A6185B),
                             ofBits(0x435DC32D),
                             ofBits(0x439A8CA3),
                             ofBits(0x43586D8A),
                             ofBits(0x42707982)};
  float p = above[0], q = below[0];
  for (int i = 1; i < 7; ++i) {
    p = std::fma(p, t, above[i]);
    q = std::fma(q, t, below[i]);
  }
  float square = t * t;
  return t + std::fma(-0.5f, square, t * square * (p / q));
}

float erfInv(float x) {
  constexpr float central[] = {
      2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
      -4.39150654e-06f, 0.00021858087f,  -0.00125372503f,
      -0.00417768164f,  0.246640727f,    1.50140941f};
  constexpr float tail[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f,
                            -0.00367342844f,  0.00573950773f,  -0.0076224613f,
                            0.00943887047f,   1.00167406f,     2.83297682f};
  float w = -xlaLog1p(x * -x);
  bool near = w < 5.0f;
  w = near ? w - 2.5f : std::sqrt(w) - 3.0f;
  const float *c = near ? central : tail;
  float p = c[0];
  for (int i = 1; i < 9; ++i)
    p = std::fma(p, w, c[i]);
  return std::fabs(x) == 1.0f ? x * std::numeric_limits<float>::infinity()
                              : p * x;
}

uint32_t ThreefryKey::bits(uint64_t index) const {
  auto [high, low] =
      threefry2x32(k0, k1, uint32_t(index >> 32), uint32_t(index));
  return high ^ low;
}

ThreefryKey ThreefryKey::foldIn(uint32_t data) const {
  auto [a, b] = threefry2x32(k0, k1, 0, data);
  return {a, b};
}

ThreefryKey ThreefryKey::split(uint64_t index) const {
  auto [a, b] = threefry2x32(k0, k1, uint32_t(index >> 32), uint32_t(index));
  return {a, b};
}

void ThreefryKey::uniform(std::span<float> out, float minimum, float maximum,
                          uint64_t first) const {
  float range = maximum - minimum;
  for (size_t i = 0; i < out.size(); ++i) {
    // 23 random bits after the point of a number in [1, 2).
    float unit = std::bit_cast<float>(bits(first + i) >> 9 | 0x3F800000) - 1.0f;
    out[i] = std::fmax(minimum, std::fma(unit, range, minimum));
  }
}

void ThreefryKey::normal(std::span<float> out, uint64_t first) const {
  uniform(out, std::nextafter(-1.0f, 0.0f), 1.0f, first);
  for (float &value : out)
    value = 1.41421356f * erfInv(value);
}

void ThreefryKey::truncatedNormal(std::span<float> out, float lower,
                                  float upper, uint64_t first) const {
  constexpr float root2 = 1.41421356f;
  float infinity = std::numeric_limits<float>::infinity();
  float low = std::nextafter(lower, infinity),
        high = std::nextafter(upper, -infinity);
  uniform(out, std::erf(lower / root2), std::erf(upper / root2), first);
  for (float &value : out)
    value = std::fmin(std::fmax(root2 * erfInv(value), low), high);
}

} // namespace weft
