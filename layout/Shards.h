//===- Shards.h - which elements each device holds --------------*- C++ -*-===//
//
// A dimension of n elements over p shards gives shard i the elements [i*c,
// min((i+1)*c, n)) with c = ceil(n/p): 7 over 4 is [0,2) [2,4) [4,6) [6,7); 3
// over 5 is [0,1) [1,2) [2,3) and two empty shards. Every local buffer has c
// elements; elements beyond the valid extent are undefined.
//
// Compiler and runtime keep layouts in containers of their own. The functions
// here take any: `Dims` is a range of dimensions, each a range of SubAxis.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_SHARDS_H
#define WEFT_LAYOUT_SHARDS_H

#include "weft/layout/SubAxis.h"

#include <cstddef>

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
/// The common part of both; if there is none, an empty interval at the begin of
/// the later one.
Interval intersect(const Interval &a, const Interval &b);
/// Product of the sizes, or INT64_MAX where that is larger.
int64_t volume(std::span<const Interval> box);

/// The index set of a global array that the device at `position` holds: an
/// interval for each dimension.
template <typename Box, typename Dims, typename Shape>
Box ownBox(std::span<const MeshAxis> mesh, const Dims &dims, const Shape &shape,
           int64_t position) {
  Box box;
  for (size_t d = 0; d < dims.size(); ++d)
    box.push_back(shardInterval(shape[d], shardCount(dims[d]),
                                coordinate(mesh, position, dims[d])));
  return box;
}

/// Shape of every local buffer: ceil(n/p) in each dimension.
template <typename Local, typename Dims, typename Shape>
Local localShapeOf(const Dims &dims, const Shape &shape) {
  Local local;
  for (size_t d = 0; d < dims.size(); ++d)
    local.push_back(shardSize(shape[d], shardCount(dims[d])));
  return local;
}

/// The common part of two boxes of one rank.
template <typename Box, typename From>
Box intersectBoxes(const From &a, const From &b) {
  Box box;
  for (size_t d = 0; d < a.size(); ++d)
    box.push_back(intersect(a[d], b[d]));
  return box;
}

} // namespace weft

#endif // WEFT_LAYOUT_SHARDS_H
