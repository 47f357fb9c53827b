//===- Softmax.h - keras.layers.Softmax --------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SOFTMAX_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SOFTMAX_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// e^x divided by its sum along `axis`; masked elements are 0.
class Softmax : public Layer {
public:
  std::vector<int64_t> axis = {-1};

  void options(Options &o) override { o.axes("axis", axis); }
  Facts facts() const override {
    return {.tensors = {"inputs", "mask"}, .passesMask = true};
  }
  Tensor callAll(Call &c, const CallInputs &inputs) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SOFTMAX_H
