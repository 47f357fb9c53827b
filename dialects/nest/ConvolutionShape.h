//===- ConvolutionShape.h - a convolution as strides ------------*- C++ -*-===//
//
//   %r = weft.convolution %x, %w ...
//        : tensor<8x32x32x3xf32>, tensor<3x3x3x16xf32> -> tensor<8x32x32x16xf32>
//
//   16 output features of 3 input features; tiles along dimension 2; vectors of
//   output features, which lie side by side in %w and in the result
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_CONVOLUTIONSHAPE_H
#define WEFT_DIALECTS_NEST_CONVOLUTIONSHAPE_H

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/ops/WindowOps.h"

namespace weft::nest {

struct ConvolutionShape {
  Strides lhs, rhs, result;
  int64_t groups, features, inputs; ///< features and inputs of a group
  /// Dimension `tiled` of the result: of `places` positions, or, where the
  /// window sees the same elements at every `period`-th only, of that many.
  int64_t tiled, period, places;
  int64_t tiledSpatial; ///< its number among windows; -1: samples are tiled
  /// Are input features, where these lie apart in the kernel, walked outside of
  /// the window?
  bool inputsOutside = false;
  /// Rounds of the loops over the products of a sum, the outermost one first.
  llvm::SmallVector<int64_t, 4> rounds;
};

/// The convolution as vectors of `lanes` and tiles along `tiled` see it: of channels, all groups
/// are one.
ConvolutionShape convolutionShape(ConvolutionOp op, const Strides &lhs,
                                  const Strides &rhs, ConvolutionLanes lanes,
                                  int64_t tiled);
/// Whether the lanes of a vector may be these elements: they are adjacent.
bool suits(ConvolutionOp op, const Strides &lhs, const Strides &rhs,
           ConvolutionLanes lanes);

/// Does a sample lie in one piece, and is one at a time walked over, where
/// places are tiled along dimension `tiled` of the result?
bool canCopySample(ConvolutionOp op, const Strides &lhs, int64_t tiled);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_CONVOLUTIONSHAPE_H
