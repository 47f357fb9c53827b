//===- Flatten.h - keras.layers.Flatten --------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_FLATTEN_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_FLATTEN_H

#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/layout/Sizes.h"

namespace weft::keras {

/// Reshapes (batch, a, b, ...) to (batch, a * b * ...).
class Flatten : public Layer {
  std::string dataFormat = "channels_last";

  void options(Options &o) override {
    o.choice("data_format", dataFormat, {"channels_last", "channels_first"});
  }
  Facts facts() const override { return {.takesIntegers = true}; }
  Tensor call(Call &c, Tensor x) const override {
    if (dataFormat == "channels_first" && c.t.rank(x) > 2)
      x = c.t.channelsLast(x);
    return c.t.reshape(
        x, {c.t.size(x, 0), tensorBytes(c.t.shape(x).drop_front(), 1)});
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_FLATTEN_H
