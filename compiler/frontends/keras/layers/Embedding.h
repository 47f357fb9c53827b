//===- Embedding.h - keras.layers.Embedding ----------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EMBEDDING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EMBEDDING_H

#include "weft/compiler/frontends/keras/layers/LowRank.h"
#include "weft/compiler/frontends/keras/layers/QuantizedWeights.h"

namespace weft::keras {

/// Looks up rows of a table: integers (batch, ...) give (batch, ...,
/// output_dim). As in Keras on JAX, indices outside the table give NaN.
class Embedding : public Layer {
protected:
  int64_t inputDim = 0, outputDim = 0;
  Weight embeddings{initializerTable().make("RandomUniform")};
  bool maskZero = false;
  LowRank lora;
  QuantizationConfigPtr quantization;

  void tableOptions(Options &o) {
    o.integer("input_dim", inputDim, kPositive);
    o.integer("output_dim", outputDim, kPositive);
    initializerOptions(o, {{"embeddings", embeddings}});
    regularizerOptions(o, {{"embeddings", embeddings}});
    o.refused("activity_regularizer", "penalties of embeddings' results");
    constraintOptions(o, {{"embeddings", embeddings}});
    o.flag("mask_zero", maskZero);
  }
  void options(Options &o) override {
    tableOptions(o);
    lora.read(o, /*usesAlpha=*/false, embeddings.constraint);
    o.object("quantization_config", quantization, quantizationTable());
  }
  Facts facts() const override {
    return {.takesIntegers = true,
            .castsInputs = false,
            .quantizedBy = {"int8", "int4"}};
  }
  Masks masks(Call &c, const CallInputs &inputs) const override {
    return maskZero ? Masks{inputs.values[0] != 0} : Masks();
  }
  Tensor call(Call &c, Tensor x) const override {
    Tensor indices = c.t.toInteger(x);
    if (!c.policy.quantization)
      return c.t.take(table(c), indices);
    Tensor rows = quantized(c).rowsOf(indices);
    return lora.added(c, "embeddings", rows, {inputDim, outputDim}, embeddings,
                      [&](Tensor a) { return c.t.take(a, indices); });
  }
  QuantizedTable quantized(Call &c) const {
    return QuantizedTable(c, inputDim, outputDim, quantization.get(), lora);
  }
  Tensor table(Call &c) const {
    Tensor table = c.weight("embeddings", {inputDim, outputDim},
                            lora.rules("embeddings", embeddings));
    return lora.applied(c, "embeddings", table, embeddings);
  }
};

/// An Embedding whose table also computes logits: with reverse=True a call
/// returns x . table^T, or x times a second table without `tie_weights`.
/// keras.layers.ReversibleEmbedding
class ReversibleEmbedding : public Embedding {
  bool tieWeights = true;
  std::optional<double> softCap;

  void options(Options &o) override {
    tableOptions(o);
    o.flag("tie_weights", tieWeights);
    o.refused("reverse_dtype", "logits of another type");
    o.maybeNumber("logit_soft_cap", softCap, kAnyNumber);
    o.refused("lora_rank", "low-rank adapters");
    o.refused("lora_alpha", "low-rank adapters");
    o.object("quantization_config", quantization, quantizationTable());
  }
  Facts facts() const override {
    Facts facts = Embedding::facts();
    facts.flags = {"reverse"};
    return facts;
  }
  Masks masks(Call &c, const CallInputs &inputs) const override {
    return inputs.flag("reverse") ? Masks() : Embedding::masks(c, inputs);
  }
  Tensor callAll(Call &c, const CallInputs &inputs) const override {
    Tensors &t = c.t;
    Tensor x = inputs.values[0];
    bool isReverse = inputs.flag("reverse");
    if (isReverse && (t.size(x, -1) != outputDim || t.rank(x) < 2)) {
      c.refuse("is called with samples of shape " + sampleText(x) +
               "; their last dimension must be \"output_dim\", " +
               std::to_string(outputDim));
      return x;
    }
    if (c.policy.quantization) {
      QuantizedTable whole = quantized(c);
      if (!tieWeights)
        whole.addReverse();
      return isReverse ? capped(whole.logits(c.cast(x)))
                       : whole.rowsOf(t.toInteger(x));
    }
    Tensor table = this->table(c);
    Tensor back = tieWeights
                      ? t.transpose(table, {1, 0})
                      : c.weight("reverse_embeddings", {outputDim, inputDim},
                                 {embeddings.initializer});
    return isReverse ? capped(t.matmul(c.cast(x), back))
                     : t.take(table, t.toInteger(x));
  }
  Tensor capped(Tensor logits) const {
    if (!softCap)
      return logits;
    return tanh(logits / *softCap) * *softCap;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EMBEDDING_H
