//===- Colors.h - images in other colours ------------------------*- C++ -*-===//
//
// Private to the Keras front end. Computes keras.ops.image.rgb_to_grayscale,
// rgb_to_hsv and hsv_to_rgb as on JAX; dimension `dim` has the three features.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_COLORS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_COLORS_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <array>

namespace weft::keras {

/// The grey values of an image, as one feature.
Tensor grayOf(Tensors &t, Tensor rgb, int64_t dim);

/// Hue, saturation and value, each with one feature.
std::array<Tensor, 3> hsvOf(Tensors &t, Tensor rgb, int64_t dim);
Tensor rgbOf(Tensors &t, const std::array<Tensor, 3> &hsv, int64_t dim);

/// Maps numbers from the range {a, b} to {c, d}: (x - a) / (b - a) * (d - c) +
/// c.
Tensor inRange(Tensors &t, Tensor x, std::array<double, 2> from,
               std::array<double, 2> to);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_COLORS_H
