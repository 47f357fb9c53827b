//===- Dropout.h - keras.layers.Dropout --------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DROPOUT_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DROPOUT_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// In training, sets each element to 0 with probability `rate`, and divides the
/// others by 1 - rate.
class Dropout : public Layer {
public:
  double rate = 0.5;
  InitializerPtr seed;
  std::vector<int64_t> noiseShape; ///< empty: the config has null

  void options(Options &o) override {
    o.number("rate", rate, kShare);
    o.seed("seed", seed, rate > 0);
    o.shape("noise_shape", noiseShape);
  }
  Facts facts() const override { return {.passesMask = true}; }
  Tensor call(Call &c, Tensor x) const override {
    return seed ? c.dropout(x, rate, seed, c.noiseShape(x, noiseShape)) : x;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DROPOUT_H
