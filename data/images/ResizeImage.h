//===- ResizeImage.h - pixels of another size -------------------*- C++ -*-===//
//
//   std::vector<float> pixels = resizeImage(image, 64, 64, {});
//
// keras.ops.image.resize(antialias=False) on JAX: an output pixel is at (i +
// 1/2) * in/out - 1/2, and is the sum of the pixels around it, weighted by a
// kernel (1 - |x|; Keys' cubic with a = -1/2; Lanczos) whose weights are
// divided by their sum. `nearest` takes pixel floor((i + 1/2) * in/out).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_IMAGES_RESIZEIMAGE_H
#define WEFT_DATA_IMAGES_RESIZEIMAGE_H

#include "weft/data/images/DecodeImage.h"
#include "weft/data/images/ImageOptions.h"

namespace weft {

/// Resizes an image to row-major (height, width, channels), with values of 0 to
/// 255, which cubic and Lanczos kernels may exceed.
std::vector<float> resizeImage(const Image &image, int64_t height,
                               int64_t width, const ImageOptions &options);

} // namespace weft

#endif // WEFT_DATA_IMAGES_RESIZEIMAGE_H
