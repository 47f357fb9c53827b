//===- SpectralNormalization.h - weights by their largest stretch *- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SPECTRALNORMALIZATION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SPECTRALNORMALIZATION_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// A layer whose kernel or embeddings are divided by their spectral norm in
/// training, which power iterations estimate. The optimizer changes the weight
/// before the division. keras.layers.SpectralNormalization
class SpectralNormalization : public Layer {
  LayerPtr layer;
  int64_t powerIterations = 1;
  InitializerPtr vectorInitializer = truncatedNormal(0.02);

  void options(Options &o) override {
    o.object("layer", layer, layerTable());
    o.check(layer != nullptr, "\"layer\" must be a layer");
    o.integer("power_iterations", powerIterations, kPositive);
    o.check(powerIterations <= 1000, "\"power_iterations\" is " +
                                         std::to_string(powerIterations) +
                                         "; it must be at most 1000");
  }
  Facts facts() const override {
    return {.takesIntegers = layer && layer->facts().takesIntegers,
            .alsoSaved = {"kernel", "embeddings"}};
  }

  /// x divided by its 2-norm.
  static Tensor unit(Tensors &t, Tensor x) {
    Tensor root = rsqrt(t.sumAll(x * x));
    return x * min(root, 1 / kEpsilon);
  }
  /// The weight divided by its spectral norm, or the weight itself if all its
  /// elements are 0.
  Tensor normalized(Call &c, Tensor weight) const {
    Tensors &t = c.t;
    Tensor whole = c.cast(weight);
    int64_t last = t.size(whole, -1);
    Tensor zeros = whole == 0;
    SmallVector<int64_t> all;
    for (int64_t dim = 0; dim < t.rank(whole); ++dim)
      all.push_back(dim);
    Tensor isZero = t.reduce(ReduceKind::And, zeros, all);
    // A weight of zeros is replaced by ones here, so that the derivative is
    // finite.
    Tensor divided = select(t.fill(isZero, whole), 1, whole);
    int64_t rows = 1;
    for (int64_t size : t.shape(whole).drop_back())
      rows *= size;
    Tensor matrix = t.reshape(divided, {rows, last});
    Tensor turned = t.transpose(matrix, {1, 0});
    Tensor before = c.cast(c.state("vector_u", {1, last}, vectorInitializer));
    Tensor u = before, v;
    for (int64_t i = 0; i < powerIterations; ++i) {
      v = unit(t, t.matmul(u, turned));
      u = unit(t, t.matmul(v, matrix));
    }
    u = t.stopGradient(u);
    v = t.stopGradient(v);
    Tensor norm = t.matmul(t.matmul(v, matrix), t.transpose(u, {1, 0}));
    Tensor out = divided / t.reshape(norm, {});
    c.update("vector_u", select(t.fill(isZero, u), before, u));
    out = select(t.fill(isZero, whole), whole, out);
    return t.castLike(out, weight);
  }
  Tensor call(Call &c, Tensor x) const override {
    bool isFound = false;
    Tensor out = c.runOptionAdjusted(
        *layer, "layer", x, {"kernel", "embeddings"}, [&](Tensor weight) {
          isFound = true;
          if (c.t.rank(weight) == 0) {
            c.refuse("its layer " + layer->name + " has a scalar as kernel");
            return weight;
          }
          c.construct(vectorInitializer);
          c.state("vector_u", {1, c.t.size(weight, -1)}, vectorInitializer);
          return c.training ? normalized(c, weight) : weight;
        });
    if (!isFound)
      c.refuse("its layer " + layer->name +
               " has no kernel and no embeddings; wrap a Dense, a convolution "
               "or an Embedding");
    return c.t.castLike(out, x);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SPECTRALNORMALIZATION_H
