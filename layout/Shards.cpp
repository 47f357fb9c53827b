//===- Shards.cpp - which elements each device holds ----------------------===//

#include "weft/layout/Shards.h"

#include "weft/base/Saturating.h"

#include <algorithm>

namespace weft {

int64_t shardSize(int64_t n, int64_t p) { return n / p + (n % p != 0); }

Interval shardInterval(int64_t n, int64_t p, int64_t i) {
  int64_t c = shardSize(n, p);
  if (c == 0 || i > n / c) // The product i * c may overflow.
    return {n, n};
  int64_t begin = i * c;
  return {begin, n - begin < c ? n : begin + c};
}

Interval intersect(const Interval &a, const Interval &b) {
  int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

int64_t volume(std::span<const Interval> box) {
  int64_t product = 1;
  for (const Interval &interval : box)
    product = saturatingMultiply(product, interval.size());
  return product;
}

} // namespace weft
