//===- ArrayBlock.h - a part of an array, read or written at once -*- C++ -*-===//
//
// An array that is too large for the memory of a process is read, drawn and
// written block by block, in row-major order:
//
//   for (const ArrayBlock &block : blocksOf({3, 1000, 512}, 1 << 18))
//     ...            // {0,0,0} + {1,512,512}, {0,512,0} + {1,488,512}, {1,0,0} ...
//
// A block is a box, and its elements are one after the other in the array.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_ARRAYS_ARRAYBLOCK_H
#define WEFT_DATA_ARRAYS_ARRAYBLOCK_H

#include "weft/data/arrays/Array.h"

namespace weft {

struct ArrayBlock {
  Shape starts, sizes; ///< a range in each dimension of the array
  uint64_t first = 0;  ///< the place of its first element in the array
  int64_t count = 0;   ///< number of elements

  /// The block of a whole array, whose number of elements fits in 63 bits.
  static ArrayBlock full(const Shape &shape);
};

/// The blocks of an array, each of at most `most` elements (at least 1), in
/// row-major order; none where the array has no elements.
std::vector<ArrayBlock> blocksOf(const Shape &shape, int64_t most);

} // namespace weft

#endif // WEFT_DATA_ARRAYS_ARRAYBLOCK_H
