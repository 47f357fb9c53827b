//===- Extremes.h - maximum and minimum of IEEE 754-2019 --------*- C++ -*-===//
//
//   maximum(-0.0, 0.0) = 0.0     minimum(0.0, -0.0) = -0.0     maximum(1, NaN) = NaN
//
// Zeros have an order, so that the result depends neither on the order of the
// operands nor on the number of devices.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_INTERPRET_EXTREMES_H
#define WEFT_PASSES_INTERPRET_EXTREMES_H

#include <cmath>

namespace weft {

inline double maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return NAN;
  return x > y || (x == y && std::signbit(y)) ? x : y;
}

inline double minimum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return NAN;
  return x < y || (x == y && std::signbit(x)) ? x : y;
}

} // namespace weft

#endif // WEFT_PASSES_INTERPRET_EXTREMES_H
