//===- Interpolation.h - images of another size ------------------*- C++ -*-===//
//
// Private to the Keras front end. Resizes like jax.image.resize: each new
// element is a sum of old ones, weighted by their distances from its position.
//
//   2 elements as 4, "bilinear"   places -0.25, 0.25, 0.75, 1.25
//   weights of element 0          1, 0.75, 0.25, 0
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_INTERPOLATION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_INTERPOLATION_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <string>
#include <vector>

namespace weft::keras {

/// The names "nearest", "bilinear", "bicubic", "lanczos3", "lanczos5".
const std::vector<const char *> &interpolations();

/// The reason why a dimension cannot be resized, or empty. The matrix of
/// weights has `from` * `to` entries, whose number is limited.
std::string resizeComplaint(int64_t from, int64_t to);

/// x, resized to `size` elements along the dimension. With `antialias` a
/// smaller size averages more elements.
Tensor resized(Tensors &t, Tensor x, int64_t dim, int64_t size,
               const std::string &interpolation, bool antialias = false);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_INTERPOLATION_H
