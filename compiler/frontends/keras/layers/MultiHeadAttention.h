//===- MultiHeadAttention.h - attention of several heads ----*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H

#include "weft/compiler/frontends/keras/layers/Dropout.h"
#include "weft/compiler/frontends/keras/layers/EinsumDense.h"

namespace weft::keras {

/// softmax(query . key / sqrt(size of a head)) . value for each head. Tensors
/// are (batch, positions, features); MultiHeadAttention allows more dimensions
/// of positions. Query, key, value and result are multiplied by matrices first.
class HeadAttention : public Layer {
protected:
  struct Heads {
    /// The numbers of heads; `keyValue` divides `query`.
    int64_t query, keyValue;
    int64_t keySize, valueSize;
  };
  double rate = 0;
  bool useBias = true, useGate = false;
  std::optional<int64_t> seed, slidingWindow;
  std::vector<int64_t> outputShape; ///< empty: the query's
  Weight kernel{glorotUniform()}, bias{zeros()};
  RegularizerPtr productRegularizer;

  void sharedOptions(Options &o);
  virtual Heads heads() const = 0;
  /// The dimensions of a query of this rank along which it attends; empty for
  /// ranks that the layer does not take.
  virtual SmallVector<int64_t> axesOf(int64_t rank) const = 0;
  /// Whether an argument query_mask takes precedence over the query's mask.
  virtual bool readsQueryMask() const = 0;

  static std::string denseOf(const std::string &inside) {
    return inside == "attention_output" ? "output_dense" : inside + "_dense";
  }
  Facts facts() const override {
    return {.tensors = {"query", "value", "key", "query_mask", "value_mask",
                        "key_mask", "attention_mask"},
            .flags = {"use_causal_mask", "return_attention_scores"},
            .passesMask = true,
            .attributeOf = denseOf};
  }
  std::vector<Tensor> results(Call &c, const CallInputs &inputs) const override;

private:
  Tensor product(Call &c, const char *name, Tensor x,
                 const std::string &equation, std::vector<int64_t> shape,
                 const std::string &biasAxes,
                 const char *activation = "linear") const;
  /// The dimensions of query and key before they are split into heads.
  struct Positions {
    SmallVector<int64_t> axes;  ///< the axes of attention
    SmallVector<int64_t> batch; ///< the other dimensions, without the features
    /// The sizes of the batch, the query's positions, and the key's positions.
    SmallVector<int64_t> seen;

    /// The shape of the scores, with the heads after the batch.
    SmallVector<int64_t> scores(int64_t heads) const;
    /// The mask, broadcast to the scores; null if it is.
    Tensor forHeads(Tensors &t, Tensor mask, Tensor scores) const;
  };
  std::optional<Positions> accepts(Call &c, Tensor query, Tensor key,
                                   Tensor value) const;
  Tensor masksOfInputs(Call &c, const CallInputs &inputs,
                       const Positions &of) const;
  Tensor mask(Call &c, const CallInputs &inputs, const Positions &of) const;
  Tensor fused(Tensors &t, Tensor query, Tensor key, Tensor value,
               const Positions &of, Tensor mask) const;
  std::pair<Tensor, Tensor> spelledOut(Call &c, Tensor query, Tensor key,
                                       Tensor value, const Positions &of,
                                       Tensor mask) const;
};

/// Attention with equal numbers of heads for queries, keys and values.
/// keras.layers.MultiHeadAttention
class MultiHeadAttention : public HeadAttention {
  int64_t numHeads = 0, keyDim = 0;
  std::optional<int64_t> valueDim;
  std::vector<int64_t> attentionAxes;

  void options(Options &o) override {
    o.integer("num_heads", numHeads, kPositive);
    o.integer("key_dim", keyDim, kPositive);
    o.maybeInteger("value_dim", valueDim, kPositive);
    o.shape("output_shape", outputShape);
    o.axes("attention_axes", attentionAxes);
    sharedOptions(o);
  }
  Heads heads() const override {
    return {numHeads, numHeads, keyDim, valueDim.value_or(keyDim)};
  }
  /// The attention axes; null stands for all dimensions between the batch and
  /// the features.
  SmallVector<int64_t> axesOf(int64_t rank) const override {
    SmallVector<int64_t> out;
    for (int64_t axis : attentionAxes)
      out.push_back(axis < 0 ? axis + rank : axis);
    for (int64_t axis = 1; attentionAxes.empty() && axis < rank - 1; ++axis)
      out.push_back(axis);
    return out;
  }
  bool readsQueryMask() const override { return false; }
  Facts facts() const override {
    Facts facts = HeadAttention::facts();
    facts.takesMasksOff = true;
    facts.attributeOf = [](const std::string &inside) {
      return (inside == "gate" ? "_" : "") + denseOf(inside);
    };
    return facts;
  }
};

/// Attention in which several heads of queries share one head of keys and
/// values. keras.layers.GroupQueryAttention
class GroupQueryAttention : public HeadAttention {
  int64_t headDim = 0, queryHeads = 0, keyValueHeads = 0;

  void options(Options &o) override {
    o.integer("head_dim", headDim, kPositive);
    o.integer("num_query_heads", queryHeads, kPositive);
    o.integer("num_key_value_heads", keyValueHeads, kPositive);
    o.check(keyValueHeads < 1 || queryHeads % keyValueHeads == 0,
            "\"num_query_heads\" is " + std::to_string(queryHeads) +
                "; it must be a multiple of \"num_key_value_heads\", " +
                std::to_string(keyValueHeads));
    sharedOptions(o);
  }
  Heads heads() const override {
    return {queryHeads, keyValueHeads, headDim, headDim};
  }
  SmallVector<int64_t> axesOf(int64_t rank) const override {
    return rank == 3 ? SmallVector<int64_t>{1} : SmallVector<int64_t>();
  }
  bool readsQueryMask() const override { return true; }
  Facts facts() const override {
    Facts facts = HeadAttention::facts();
    // Keras adds the penalty to the layer's result and to the projections.
    facts.activityRegularizer = productRegularizer;
    facts.savedName = "grouped_query_attention";
    facts.attributeOf = [](const std::string &inside) {
      return "_" + denseOf(inside);
    };
    return facts;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H
