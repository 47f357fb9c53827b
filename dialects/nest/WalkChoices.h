//===- WalkChoices.h - what choices of walks share --------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_NEST_WALKCHOICES_H
#define WEFT_DIALECTS_NEST_WALKCHOICES_H

#include <algorithm>
#include <cstdint>

namespace weft::nest {

// The length of blocks, and the length above which a sum is computed by
// blocks: the rounding error grows with the numbers in one accumulator. The
// relative error of a sum of 50,000 positive numbers was 4e-6 in one
// accumulator, 2e-7 in blocks of 512. The error of a small residual network's
// weights after ten steps is 1e-6; with blocks of 512 it was 5e-6.
inline constexpr int64_t kSumBlock = 64, kLongSum = 4 * kSumBlock;

/// The sums of a contraction or convolution that are in registers.
struct TileSize {
  int64_t rows, columns; ///< columns in vectors, or in elements along the depth
};

/// The cycles of one step of k: two multiply-adds or two loads a cycle, and at
/// least the latency of a multiply-add.
inline double tileCost(int64_t rows, int64_t vectors) {
  return std::max({rows * vectors / 2.0, (rows + vectors) / 2.0, 4.0});
}

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_WALKCHOICES_H
