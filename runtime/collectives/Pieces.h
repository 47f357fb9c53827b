//===- Pieces.h - collectives cut into pieces -------------------*- C++ -*-===//
//
// Tables for the workers, or blocks of threads of a GPU, that run a collective.
// Host and kernels read them, so they use nothing of the C++ library. A piece
// may run beside all others of its group.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_PIECES_H
#define WEFT_RUNTIME_COLLECTIVES_PIECES_H

#include <stdint.h> // GPUs have no <cstdint>

namespace weft::runtime {

/// Rows of `run` elements, reduced into one member's target or into all.
/// Positions, lengths and strides are in elements.
struct ReducePiece {
  int64_t array;
  int64_t member; ///< -1: all
  int64_t source, target, run;
  int64_t rows, sourceStride, targetStride;
};

/// Words [first, first + count) of a copy from a member's source to a member's
/// target, of `width` bytes each: `run` words are contiguous on both sides,
/// `loopCount` loops surround them. Offsets and strides are in bytes.
struct MovePiece {
  int64_t source, target; ///< numbers of pointers
  int64_t sourceOffset, targetOffset;
  int64_t width, run, first, count;
  int64_t firstLoop, loopCount;
};
/// The loops, from the outermost to the innermost.
struct MoveLoop {
  int64_t count, sourceStride, targetStride;
};

/// A pick: members hold `outer` blocks of `block` rows of `inner` elements, and
/// each gets `outer` times `count` rows of them. The positions of member m are
/// its second source.
struct PickTable {
  int64_t members, outer, block, count, inner, elementBytes;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_PIECES_H
