//===- LayerScale.h - a factor for each feature -------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYERSCALE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYERSCALE_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// x * gamma, of keras.applications.convnext.
class LayerScale : public Layer {
  double initValues = 1e-6;
  int64_t projectionDim = 1;

  void options(Options &o) override {
    o.number("init_values", initValues, kAnyNumber);
    o.integer("projection_dim", projectionDim, kPositive);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (c.t.size(x, -1) != projectionDim) {
      c.refuse("\"projection_dim\" is " + std::to_string(projectionDim) +
               ", but is called with samples of shape " + sampleText(x));
      return x;
    }
    Weight rules{constant(initValues)};
    rules.isUnnamed = true;
    Tensor gamma = c.weight("variable", {projectionDim}, rules);
    return x * c.t.along(gamma, x);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYERSCALE_H
