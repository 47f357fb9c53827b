//===- Activation.h - the activations of Keras -------------------*- C++ -*-===//
//
// A file names an activation: "relu", or a function object with that name.
// Layers have one as an option (layers/ActivationOption.h):
//
//   ActivationPtr relu = activationTable().make("relu");
//   return relu->apply(c.t, x);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_ACTIVATIONS_ACTIVATION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_ACTIVATIONS_ACTIVATION_H

#include "weft/base/config/Options.h"

namespace weft::formulas {
class Tensor;
} // namespace weft::formulas

namespace weft::keras {

using formulas::Tensor;
class Tensors;

class Activation : public Configured {
public:
  void options(Options &) override {}
  /// Applies the activation to x; the result has its shape.
  virtual Tensor apply(Tensors &t, Tensor x) const = 0;
};

using ActivationPtr = std::shared_ptr<const Activation>;
const Table<Activation> &activationTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_ACTIVATIONS_ACTIVATION_H
