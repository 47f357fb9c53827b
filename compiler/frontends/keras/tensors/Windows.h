//===- Windows.h - windows over the spatial dimensions of images -*- C++ -*-===//
//
// Private to the Keras front end. Dimension 0 of an image is the batch. The
// features are the last dimension, or dimension 1 with `channelsFirst`.
//
//   "same", size 28, kernel 6, stride 2   padding 2 and 2, result 14
//   "valid"                               no padding, result 12
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_WINDOWS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_WINDOWS_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <array>
#include <string>
#include <vector>

namespace weft::keras {

struct SpatialWindow {
  std::vector<int64_t> size, strides, dilation; ///< by spatial dimension
  std::vector<int64_t> low, high;               ///< padding
  std::vector<int64_t> baseDilation;            ///< 1 unless transposed

  /// The sizes of the result for spatial sizes of the input; 0 if no window
  /// fits.
  std::vector<int64_t> over(llvm::ArrayRef<int64_t> sizes) const;
};

/// The dimensions of the tensor except the batch and the features.
llvm::SmallVector<int64_t> spatialDims(Tensor x, bool channelsFirst);
std::vector<int64_t> spatialSizes(Tensor x, bool channelsFirst);

/// A window with "valid" padding, "same" padding as in XLA and TensorFlow (the
/// odd element is at the end), or "causal" padding (all in front).
SpatialWindow paddedWindow(Tensor x, bool channelsFirst,
                           const std::vector<int64_t> &size,
                           const std::vector<int64_t> &strides,
                           const std::vector<int64_t> &dilation,
                           const std::string &padding);

/// Convolves x with a kernel [spatial..., in / groups, out], or [spatial...,
/// out, in] if it is transposed.
Tensor convolve(Tensors &t, Tensor x, Tensor kernel,
                const SpatialWindow &window, int64_t groups, bool channelsFirst,
                bool isTransposed = false);

/// The maximum or the sum of each window.
Tensor pool(Tensors &t, ReduceKind kind, Tensor x, const SpatialWindow &window,
            bool channelsFirst);
/// The number of elements of each window that are not padding, in the shape of
/// `pooled`.
Tensor countsOf(Tensors &t, Tensor x, Tensor pooled,
                const SpatialWindow &window, bool channelsFirst);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_WINDOWS_H
