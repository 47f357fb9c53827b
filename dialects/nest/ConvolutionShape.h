//===- ConvolutionShape.h - a convolution as strides ------------*- C++ -*-===//
//
//   %r = weft.convolution %x, %w ...
//        : tensor<8x32x32x3xf32>, tensor<3x3x3x16xf32> -> tensor<8x32x32x16xf32>
//
//   16 output features of 3 input features; tiles along dimension 2; vectors of
//   output features, which are adjacent in %w and in the result
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
  /// Features and inputs are those of a single group.
  int64_t groups, features, inputs;
  /// The tiled dimension of the result. Windows read the same elements of the
  /// kernel if their positions differ by a multiple of `period`; `places` is
  /// the number of such positions.
  int64_t tiled, period, places;
  /// The number of `tiled` among the spatial dimensions; -1 if it is the batch.
  int64_t tiledSpatial;
  /// Whether the loop over input features is outside of the window's: with
  /// lanes of output features, if the last dimension of the window has the
  /// smaller stride in the kernel.
  bool inputsOutside = false;
  /// Iterations of the loops over the products of a sum, the outermost first.
  llvm::SmallVector<int64_t, 4> rounds;
};

/// The loops of a convolution with vectors of `lanes` and tiles along `tiled`;
/// with lanes of channels all groups count as one.
ConvolutionShape convolutionShape(ConvolutionOp op, const Strides &lhs,
                                  const Strides &rhs, ConvolutionLanes lanes,
                                  int64_t tiled);
/// The distance of the elements of a window that read elements of the input and
/// not holes of its base dilation.
int64_t stepOf(const Window &window);
/// Whether the lanes of a vector may be these elements: they are adjacent, no
/// tensor is empty, and channels are depthwise.
bool suits(ConvolutionOp op, const Strides &lhs, const Strides &rhs,
           ConvolutionLanes lanes);

/// The strides of a convolution's kernel that is copied to scratch memory: the
/// features that are lanes are adjacent, and in front of them the other ones and
/// the window.
Strides copiedKernel(ConvolutionOp op, const Strides &rhs,
                     ConvolutionLanes lanes);
/// The strides of the kernel that the loops read.
inline Strides kernelRead(ConvolutionOp op, const Strides &rhs,
                          ConvolutionLanes lanes, bool isCopied) {
  return isCopied ? copiedKernel(op, rhs, lanes) : rhs;
}

/// The elements of a panel: the kernel's elements for `width` output features.
int64_t panelElements(ConvolutionOp op, int64_t width);
/// The strides of a panel, in the order in which the loops of `shape` read it;
/// its features are adjacent.
Strides panelRead(ConvolutionOp op, const ConvolutionShape &shape,
                  int64_t width);

/// Whether a sample is contiguous, and the loops use one sample at a time when
/// they tile positions along dimension `tiled` of the result.
bool canCopySample(ConvolutionOp op, const Strides &lhs, int64_t tiled);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_CONVOLUTIONSHAPE_H
