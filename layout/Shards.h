//===- Shards.h - which elements each device holds --------------*- C++ -*-===//
//
// A dimension of n elements over p shards gives shard i the elements [i*c,
// min((i+1)*c, n)) with c = ceil(n/p): 7 over 4 is [0,2) [2,4) [4,6) [6,7); 3
// over 5 is [0,1) [1,2) [2,3) and two empty shards. Every local buffer has c
// elements; elements beyond the valid extent are undefined.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_SHARDS_H
#define WEFT_LAYOUT_SHARDS_H

#include "weft/layout/SubAxis.h"

namespace weft {

/// Half-open range of indices.
struct Interval {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end > begin ? end - begin : 0; }
  bool operator==(const Interval &) const = default;
};

/// ceil(n / p): elements of every local buffer.
int64_t shardSize(int64_t n, int64_t p);
/// The elements of n that shard i of p owns; empty shards are [n, n).
Interval shardInterval(int64_t n, int64_t p, int64_t i);
/// The common part of both; if there is none, an empty interval at the start of
/// the later interval.
Interval intersect(const Interval &a, const Interval &b);
/// Product of the sizes, or INT64_MAX where that is larger.
int64_t volume(std::span<const Interval> box);

} // namespace weft

#endif // WEFT_LAYOUT_SHARDS_H
