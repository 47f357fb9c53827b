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
  bool takesIntegers() const override {
    return layer && layer->takesIntegers();
  }

  /// x divided by its 2-norm.
  static Value unit(Tensors &t, Value x) {
    Value root = t.make<RsqrtOp>(t.sumAll(t.mul(x, x)));
    return t.mul(x, t.fill(t.min(root, 1 / kEpsilon), x));
  }
  /// The weight divided by its spectral norm, or the weight itself if all its
  /// elements are 0.
  Value normalized(Call &c, Value weight) const {
    Tensors &t = c.t;
    Value whole = c.cast(weight);
    int64_t last = t.size(whole, -1);
    Value zeros = t.compare(CompareKind::EQ, whole, 0);
    SmallVector<int64_t> all;
    for (int64_t dim = 0; dim < t.rank(whole); ++dim)
      all.push_back(dim);
    Value isZero = t.reduce(ReduceKind::And, zeros, all);
    // A weight of zeros is replaced by ones here, so that the derivative is
    // finite.
    Value divided = t.select(t.fill(isZero, whole), t.splat(1, whole), whole);
    int64_t rows = 1;
    for (int64_t size : t.shape(whole).drop_back())
      rows *= size;
    Value matrix = t.reshape(divided, {rows, last});
    Value turned = t.transpose(matrix, {1, 0});
    Value before = c.cast(c.state("vector_u", {1, last}, vectorInitializer));
    Value u = before, v;
    for (int64_t i = 0; i < powerIterations; ++i) {
      v = unit(t, t.matmul(u, turned));
      u = unit(t, t.matmul(v, matrix));
    }
    u = t.stopGradient(u);
    v = t.stopGradient(v);
    Value norm = t.matmul(t.matmul(v, matrix), t.transpose(u, {1, 0}));
    Value out = t.div(divided, t.fill(t.reshape(norm, {}), divided));
    c.update("vector_u", t.select(t.fill(isZero, u), before, u));
    out = t.select(t.fill(isZero, whole), whole, out);
    return t.castLike(out, weight);
  }
  bool alsoSaves(const std::string &weight) const override {
    return weight == "kernel" || weight == "embeddings";
  }
  Value call(Call &c, Value x) const override {
    bool isFound = false;
    Value out = c.runOptionAdjusted(
        *layer, "layer", x, {"kernel", "embeddings"}, [&](Value weight) {
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
