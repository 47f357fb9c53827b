//===- Attention.h - attention of one head -----------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ATTENTION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ATTENTION_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// softmax(scores of query and key) . value, of tensors (batch, positions,
/// features); called with [query, value] or [query, value, key].
/// keras.layers.Attention
class Attention : public Layer {
  std::string scoreMode = "dot";
  double rate = 0;
  InitializerPtr seed;
  InitializerPtr one = ones();

protected:
  bool useScale = false;

  void sharedOptions(Options &o) {
    o.number("dropout", rate, kShare);
    o.seed("seed", seed, rate > 0);
  }
  void options(Options &o) override {
    o.flag("use_scale", useScale);
    o.choice("score_mode", scoreMode, {"dot", "concat"});
    sharedOptions(o);
  }
  /// Computes tanh(scale * (query + key)) for each pair of positions; a null
  /// scale is 1.
  static Tensor pairs(Tensors &t, Tensor query, Tensor key, Tensor scale = {});
  /// Computes scores of the shape (batch, query positions, key positions).
  virtual Tensor scores(Call &c, Tensor query, Tensor key) const;

private:
  Facts facts() const override {
    return {.tensors = {"inputs", "mask"},
            .flags = {"use_causal_mask", "return_attention_scores"},
            .takesSeveral = true,
            .passesMask = true};
  }
  bool accepts(Call &c, const CallInputs &inputs) const;
  Tensor masked(Call &c, const CallInputs &inputs, Tensor scores) const;
  std::vector<Tensor> results(Call &c, const CallInputs &inputs) const override;
};

/// Attention with the scores sum(scale * tanh(query + key)).
/// keras.layers.AdditiveAttention
class AdditiveAttention : public Attention {
  InitializerPtr scaleInitializer = glorotUniform();

public:
  AdditiveAttention() { useScale = true; }

private:
  void options(Options &o) override {
    o.flag("use_scale", useScale);
    sharedOptions(o);
  }
  Tensor scores(Call &c, Tensor query, Tensor key) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ATTENTION_H
