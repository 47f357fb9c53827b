//===- Noise.h - dropout of features, and noise ------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_NOISE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_NOISE_H

#include "weft/compiler/frontends/keras/layers/Images.h"

#include <cmath>

namespace weft::keras {

/// Layers that add noise in training only, in their compute type.
class Noise : public Layer {
protected:
  InitializerPtr seed;

  Facts facts() const override { return {.passesMask = true}; }
  virtual Tensor noisy(Call &c, Tensor x) const = 0;
  /// Normal numbers in the shape of x.
  Tensor normal(Call &c, Tensor x) const {
    return c.random(seed,
                    [&](Tensor key) { return c.t.normal(key, tensorType(x)); });
  }
  Tensor call(Call &c, Tensor x) const override {
    return seed && c.training ? noisy(c, x) : x;
  }
};

/// x + stddev * noise.  keras.layers.GaussianNoise
class GaussianNoise : public Noise {
  double stddev = 0;

  void options(Options &o) override {
    o.number("stddev", stddev, kNotNegative);
    o.seed("seed", seed, stddev > 0);
  }
  Tensor noisy(Call &c, Tensor x) const override {
    return x + normal(c, x) * stddev;
  }
};

/// x * (1 + sqrt(rate / (1 - rate)) * noise).  keras.layers.GaussianDropout
class GaussianDropout : public Noise {
  double rate = 0;

  void options(Options &o) override {
    o.number("rate", rate, kShare);
    o.check(rate < 1, "\"rate\" is 1; it must lie below 1");
    o.seed("seed", seed, rate > 0);
  }
  Tensor noisy(Call &c, Tensor x) const override {
    Tensor noise = normal(c, x) * std::sqrt(rate / (1 - rate));
    return x * (noise + 1.0);
  }
};

/// Drops elements to the least value of SELU, and rescales all so that mean and
/// variance are kept. keras.layers.AlphaDropout
class AlphaDropout : public Noise {
  double rate = 0;
  std::vector<int64_t> noiseShape; ///< empty if null: the input's shape

  void options(Options &o) override {
    o.number("rate", rate, kShare);
    o.check(rate < 1, "\"rate\" is 1; it must lie below 1");
    o.seed("seed", seed, rate > 0);
    o.shape("noise_shape", noiseShape);
  }
  Tensor noisy(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    auto drawn = mlir::RankedTensorType::get(c.noiseShape(x, noiseShape),
                                             t.builder.getF32Type());
    Tensor bits = c.random(
        seed, [&](Tensor key) { return t.uniform(key, drawn) >= rate; });
    Tensor kept = t.castLike(t.stretch(bits, t.shape(x)), x);
    double least = -1.6732632423543772 * 1.0507009873554805;
    double a = 1 / std::sqrt((1 - rate) * (1 + rate * least * least));
    Tensor mixed = x * kept + (1.0 - kept) * least;
    return mixed * a + -a * least * rate;
  }
};

/// Returns x, and adds a penalty.  keras.layers.ActivityRegularization
class ActivityRegularization : public Layer {
  double l1 = 0, l2 = 0;

  void options(Options &o) override {
    o.number("l1", l1, kAnyNumber);
    o.number("l2", l2, kAnyNumber);
  }
  Facts facts() const override {
    return {.passesMask = true, .activityRegularizer = l1l2(l1, l2)};
  }
  Tensor call(Call &, Tensor x) const override { return x; }
};

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
  Facts facts() const override { return {.passesMask = true}; }
  Tensor call(Call &c, Tensor x) const override {
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
