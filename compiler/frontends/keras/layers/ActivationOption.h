//===- ActivationOption.h - the activation of a layer ------------*- C++ -*-===//
//
// The activation of a layer is a function or, as Keras allows, another layer:
//
//   Dense(3, activation="relu")
//   Dense(3, activation=LeakyReLU(negative_slope=0.1))
//
//   ActivationOption activation{"activation"};
//   activation.read(o);
//   return activation.apply(c, out);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ACTIVATIONOPTION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ACTIVATIONOPTION_H

#include "weft/compiler/frontends/keras/activations/Activation.h"
#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

class ActivationOption {
public:
  /// `name` is the key of the config and the attribute of Keras' class.
  explicit ActivationOption(const char *name, const char *function = "linear")
      : name(name), function(activationTable().make(function)) {}

  void read(Options &o) {
    o.objectOr(name, function, activationTable(), layer, layerTable());
  }
  /// Sets the function with this name in Keras.
  void set(const char *function) {
    this->function = activationTable().make(function);
  }
  /// Applies the activation. If it is a layer, its variables belong to the
  /// call.
  Tensor apply(Call &c, Tensor x) const {
    if (!layer)
      return function->apply(c.t, x);
    std::vector<Tensor> out =
        c.runOptionAll(*layer, name, CallInputs(x)).values;
    if (out.size() != 1 || c.t.shape(out[0]) != c.t.shape(x)) {
      c.refuse(std::string(name) + ": the layer " + layer->className +
               " must have one result of the shape of its input " +
               sampleText(x));
      return x;
    }
    return out[0];
  }

private:
  const char *name;
  ActivationPtr function;
  LayerPtr layer;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ACTIVATIONOPTION_H
