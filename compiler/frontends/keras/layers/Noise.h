//===- Noise.h - dropout of features, and noise ------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_NOISE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_NOISE_H

#include "weft/compiler/frontends/keras/layers/Images.h"

namespace weft::keras {

/// In training, drops whole features of each sample.
/// keras.layers.SpatialDropout1D, SpatialDropout2D, SpatialDropout3D
template <int rank> class SpatialDropout : public OfImages {
  double rate = 0.5;
  InitializerPtr seed;

  void options(Options &o) override {
    o.number("rate", rate, kShare);
    o.seed("seed", seed, rate > 0);
    if (rank > 1)
      formatOption(o);
  }
  Value call(Call &c, Value x) const override {
    if (!c.hasRank(x, rank + 2) || !seed)
      return x;
    SmallVector<int64_t> mask(c.t.shape(x));
    for (int64_t dim : spatialDims(x, channelsFirst()))
      mask[dim] = 1;
    return c.dropout(x, rate, seed, mask);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_NOISE_H
