//===- FourierLoops.h - lines of a Fourier transform ------------*- C++ -*-===//
//
// Lines along the transformed dimension are copied to working memory and
// transformed there. Where there are several, a group of them is transformed at
// once, a lane for each line, so that each step is arithmetic of vectors:
//
//   tensor<256x4096xcomplex<f32>> dim 1     16 groups of 16 lines of 4096
//   tensor<16x64x64xcomplex<f32>> dim 1     64 groups of 16 columns of 64
//   tensor<4096xcomplex<f32>> dim 0         1 group of 1 line
//
// A long line is a matrix, whose columns and then rows are transformed
// (Bailey, "FFTs in external or hierarchical memory", 1990):
//
//   65536 numbers      256 rows of 256; 16 columns, then 16 rows at once
//
// A line of an even number n of real elements is one of n/2 complex numbers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_FOURIERLOOPS_H
#define WEFT_DIALECTS_NEST_FOURIERLOOPS_H

#include "weft/dialects/nest/OpLoops.h"

namespace weft {
class FftOp;
} // namespace weft

namespace weft::nest {

/// The largest number of entries in a transform's table that is computed while
/// compiling.
inline constexpr int64_t kMostFftTable = 1 << 16;

/// The radices of a Fourier transform of length n: 8, 4 and the primes up to
/// 13; nothing if n has a larger prime.
std::optional<llvm::SmallVector<int64_t>> fftRadices(int64_t n);

/// How a Fourier transform is computed.
struct FourierForm {
  /// Whether elements 2j and 2j + 1 of a real line are one complex number.
  bool isPaired;
  /// The length of the transform of complex numbers, n or n/2, and of the
  /// transforms that compute it: a power of two for a large prime.
  int64_t length, size;
  /// The number of lines before the dimension, and of those between elements of
  /// a line.
  int64_t outer, inner;
  /// The lines of a group, and the number of groups. Lanes are along the inner
  /// lines if these fill a group, else along all lines.
  int64_t lanes, groups;
  /// The arrays of a group's numbers, and the numbers of a line in an array:
  /// stages alternate between two, and a third holds those too many for a
  /// table.
  int64_t arrays, numbers;
  /// Where a group is one long line: its rows, if it is transformed as a matrix,
  /// first along columns, of which as many as a cache line has numbers are
  /// lanes, then along rows; else 0. Lanes have two arrays of their own.
  int64_t rows;

  int64_t columns() const { return size / rows; }
  bool isAlongInner() const { return inner >= lanes; }
  int64_t lines() const { return outer * inner; }
};
FourierForm fourierForm(FftOp op);

/// The loops of a transform: one over the groups.
OwnLoops fourierLoops(FftOp op);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_FOURIERLOOPS_H
