//===- Saturating.h - sums and products that may be too large ---*- C++ -*-===//
//
// The bytes of all devices and all iterations of a loop can exceed INT64_MAX:
//
//   saturatingMultiply(int64_t(1) << 62, 4) = INT64_MAX
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_SATURATING_H
#define WEFT_BASE_SATURATING_H

#include <cstdint>
#include <limits>

namespace weft {

/// Return a + b and a * b, or the limit of int64_t that these exceed.
inline int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}
inline int64_t saturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product))
    return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<int64_t>::min()
                            : std::numeric_limits<int64_t>::max();
}

} // namespace weft

#endif // WEFT_BASE_SATURATING_H
