//===- distance.h - how far two figures are apart ----------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_DISTANCE_H
#define WEFT_TEST_UNIT_DISTANCE_H

#include <cmath>
#include <limits>

namespace weft::test {

/// Returns |a - b|: 0 for two NaNs, infinite if only one is NaN, so that a
/// maximum of distances keeps it.
inline double distance(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b)
               ? 0
               : std::numeric_limits<double>::infinity();
  return a == b ? 0 : std::abs(a - b);
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_DISTANCE_H
