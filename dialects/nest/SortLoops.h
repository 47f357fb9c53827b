//===- SortLoops.h - sorts by digits ----------------------------*- C++ -*-===//
//
//   i32 keys of 4 digits, n = 4096     4 moves of each element
//   by comparisons                     12 levels of a merge
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_SORTLOOPS_H
#define WEFT_DIALECTS_NEST_SORTLOOPS_H

#include "weft/dialects/nest/OpLoops.h"

namespace weft {
class SortOp;
} // namespace weft

namespace weft::nest {

/// The working memory of a sort of one row by the digits of its key, base 256:
/// two arrays of keys, two of positions, if other tensors follow the key, and
/// counts.
struct DigitSort {
  int64_t size;       ///< the size of a row
  unsigned keyBits;   ///< bits of a key in working memory
  unsigned indexBits; ///< bits of a position, and of a count
  bool hasPositions;

  static constexpr int64_t kBase = 256;
  int64_t digits() const { return keyBits / 8; }
  /// The first byte of array 0 or 1 of keys, and of positions, and of counts.
  int64_t keysAt(int64_t number) const;
  int64_t positionsAt(int64_t number) const;
  int64_t countsAt() const;
  int64_t bytes() const;
};

/// How a processor with working memory sorts by digits; nothing for several
/// keys, and for rows so short that a merge takes less time.
std::optional<DigitSort> digitSort(SortOp op);

/// The loops of a sort: all dimensions but the sorted one.
OwnLoops sortLoops(SortOp op);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_SORTLOOPS_H
