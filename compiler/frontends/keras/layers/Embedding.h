//===- Embedding.h - keras.layers.Embedding ----------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EMBEDDING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EMBEDDING_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// Rows of a table: (batch, ...) of integers to (batch, ..., output_dim). As in
/// Keras on JAX, indices outside the table give NaN.
class Embedding : public Layer {
  int64_t inputDim = 0, outputDim = 0;
  InitializerPtr initializer = initializerTable().make("RandomUniform");
  RegularizerPtr regularizer;
  ConstraintPtr constraint;

  void options(Options &o) override {
    o.integer("input_dim", inputDim, kPositive);
    o.integer("output_dim", outputDim, kPositive);
    o.object("embeddings_initializer", initializer, initializerTable());
    o.object("embeddings_regularizer", regularizer, regularizerTable());
    o.refused("activity_regularizer", "penalties of embeddings' results");
    o.object("embeddings_constraint", constraint, constraintTable());
    o.refused("mask_zero", "masks", "false");
    o.refused("lora_rank", "low-rank adapters");
    o.refused("lora_alpha", "low-rank adapters");
    o.refused("quantization_config", "quantized weights");
  }
  bool takesIntegers() const override { return true; }
  Value call(Call &c, Value x) const override {
    Value table = c.weight("embeddings", {inputDim, outputDim},
                           {initializer, regularizer, constraint});
    return c.t.take(table, c.t.toInteger(x));
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EMBEDDING_H
