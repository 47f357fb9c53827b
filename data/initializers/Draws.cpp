#include "weft/data/initializers/Draws.h"

#include <cmath>

namespace weft {

/// sqrt(2) in the type, as JAX rounds it.
static constexpr double root2 = 1.4142135623730951;

float Draws::rounded(double value) const {
  switch (type) {
  case ElementType::Float16:
    return halfToFloat(floatToHalf(float(value)));
  case ElementType::BFloat16:
    return bfloatToFloat(floatToBFloat(float(value)));
  default:
    return float(value);
  }
}

float Draws::inward(float value) const {
  // The next number towards 0 has the bits less one, as the value is not 0.
  return type == ElementType::Float16
             ? halfToFloat(uint16_t(floatToHalf(value) - 1))
             : bfloatToFloat(uint16_t(floatToBFloat(value) - 1));
}

float Draws::unit(uint64_t index) const {
  uint32_t bits = key.bits(index);
  return type == ElementType::Float16
             ? halfToFloat(uint16_t((bits & 0xFFFF) >> 6 | 0x3C00)) - 1.0f
             : bfloatToFloat(uint16_t((bits & 0xFF) >> 1 | 0x3F80)) - 1.0f;
}

void Draws::uniform(std::span<float> out, double minimum, double maximum,
                    uint64_t first) const {
  if (!isShort())
    return key.uniform(out, float(minimum), float(maximum), first);
  float least = rounded(minimum), range = rounded(rounded(maximum) - least);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] =
        std::fmax(least, rounded(rounded(unit(first + i) * range) + least));
}

void Draws::normal(std::span<float> out, uint64_t first) const {
  if (!isShort())
    return key.normal(out, first);
  uniform(out, inward(-1), 1, first);
  for (float &value : out)
    value = rounded(rounded(root2) * rounded(erfInv(value)));
}

void Draws::truncatedNormal(std::span<float> out, double lower, double upper,
                            uint64_t first) const {
  if (!isShort())
    return key.truncatedNormal(out, float(lower), float(upper), first);
  float root = rounded(root2), low = rounded(lower), high = rounded(upper);
  auto share = [&](float bound) {
    return rounded(std::erf(rounded(bound / root)));
  };
  uniform(out, share(low), share(high), first);
  for (float &value : out)
    value = std::fmin(
        std::fmax(rounded(root * rounded(erfInv(value))), inward(low)),
        inward(high));
}

void Draws::rescale(std::span<float> values, double factor,
                    double summand) const {
  for (float &value : values)
    value = rounded(rounded(value * rounded(factor)) + rounded(summand));
}

} // namespace weft
