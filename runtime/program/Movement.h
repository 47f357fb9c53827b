//===- Movement.h - copies of boxes between dense arrays --------*- C++ -*-===//
//
// Rows 2..4 of a 8x10 array into rows 0..2 of a 4x10 one are one contiguous
// copy; columns 2..4 are a strided one:
//
//   BoxCopy::make({8,10}, {2,0}, {4,10}, {0,0}, {2,10}, 4)  // 1 run
//   BoxCopy::make({8,10}, {0,2}, {8,2}, {0,0}, {8,2}, 4)    // 8 runs
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_MOVEMENT_H
#define WEFT_RUNTIME_PROGRAM_MOVEMENT_H

#include "weft/runtime/program/Error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::runtime {

/// Copies a box. `run` bytes are contiguous on both sides; the loops around
/// them are listed from the outermost to the innermost. Offsets and strides are
/// in bytes.
struct WEFT_EXPORT BoxCopy {
  struct Loop {
    int64_t count, sourceStride, targetStride;
  };
  int64_t sourceOffset = 0, targetOffset = 0;
  int64_t run = 0;
  std::vector<Loop> loops;

  /// Makes the copy of `extent` elements from `sourceStart` to `targetStart`.
  static BoxCopy make(std::span<const int64_t> sourceShape,
                      std::span<const int64_t> sourceStart,
                      std::span<const int64_t> targetShape,
                      std::span<const int64_t> targetStart,
                      std::span<const int64_t> extent, int64_t elementBytes);
  /// The copy of a full array.
  static BoxCopy full(uint64_t bytes) { return {0, 0, int64_t(bytes), {}}; }
  /// The box, to or from memory in which its runs are contiguous. A run that a
  /// loop repeats (source stride 0) is in that memory once.
  BoxCopy packing() const;
  BoxCopy unpacking() const;
  int64_t bytes() const;
  /// Number of contiguous runs.
  int64_t runs() const;
  void operator()(const void *source, void *target) const;
  /// Copies runs [first, last) only.
  void operator()(const void *source, void *target, int64_t first,
                  int64_t last) const;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_MOVEMENT_H
