//===- Formulas.h - activations that layers parametrise ----------*- C++ -*-===//
//
// Private to the Keras front end. Each function computes that of the same name
// in jax.nn.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_ACTIVATIONS_FORMULAS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_ACTIVATIONS_FORMULAS_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

/// x if it is not negative, else slope * x.
Tensor leakyRelu(Tensors &t, Tensor x, double slope);
/// x if it is positive, else alpha * (e^x - 1).
Tensor elu(Tensors &t, Tensor x, double alpha);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_ACTIVATIONS_FORMULAS_H
