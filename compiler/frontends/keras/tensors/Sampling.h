//===- Sampling.h - images at other places -----------------------*- C++ -*-===//
//
// Private to the Keras front end. Computes keras.ops.image.affine_transform of
// images (batch, height, width, features). The new element at row h and column
// w is the old element at
//
//   row     b0 w + b1 h + b2
//   column  a0 w + a1 h + a2
//
// with coefficients for each image, as in jax.scipy.ndimage.map_coordinates.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_SAMPLING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_SAMPLING_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <string>
#include <vector>

namespace weft::keras {

/// The interpolation between elements, and the fill outside of the image.
struct Sampling {
  std::string interpolation = "bilinear", fillMode = "reflect";
  double fillValue = 0;

  static std::vector<const char *> interpolations() {
    return {"nearest", "bilinear"};
  }
  static std::vector<const char *> fillModes() {
    return {"reflect", "wrap", "constant", "nearest"};
  }
};

/// The coefficients, each a vector of f32 over the batch. Null stands for 1 in
/// a0 and b1, and for 0 in the others.
struct Affine {
  Tensor a0, a1, a2, b0, b1, b2;
};

/// Transforms the images in f32, without a change of their shape.
Tensor affined(Tensors &t, Tensor images, const Affine &places,
               const Sampling &sampling);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_SAMPLING_H
