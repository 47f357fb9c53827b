//===- MultiHeadAttention.h - keras.layers.MultiHeadAttention ----*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H

#include "weft/compiler/frontends/keras/layers/Dropout.h"
#include "weft/compiler/frontends/keras/layers/EinsumDense.h"

namespace weft::keras {

/// softmax(query . key / sqrt(key_dim)) . value for each of several heads, over
/// tensors (batch, positions, features); the query, key, value and result are
/// each a matrix product before.
class MultiHeadAttention : public Layer {
  int64_t numHeads = 0, keyDim = 0;
  std::optional<int64_t> valueDim, seed;
  double rate = 0;
  bool useBias = true;
  std::vector<int64_t> attentionAxes;
  InitializerPtr kernelInitializer = glorotUniform(), biasInitializer = zeros();
  RegularizerPtr kernelRegularizer, biasRegularizer;
  ConstraintPtr kernelConstraint, biasConstraint;

  void options(Options &o) override {
    o.integer("num_heads", numHeads, kPositive);
    o.integer("key_dim", keyDim, kPositive);
    o.maybeInteger("value_dim", valueDim, kPositive);
    o.number("dropout", rate, kShare);
    o.flag("use_bias", useBias);
    o.refused("output_shape", "results of another shape");
    o.axes("attention_axes", attentionAxes);
    o.check(attentionAxes.empty() || attentionAxes == std::vector<int64_t>{1},
            "\"attention_axes\" must be [1] or null: attention along one "
            "dimension");
    o.refused("sliding_window", "attention to near positions only");
    o.refused("flash_attention", "another algorithm");
    o.object("kernel_initializer", kernelInitializer, initializerTable());
    o.object("bias_initializer", biasInitializer, initializerTable());
    o.object("kernel_regularizer", kernelRegularizer, regularizerTable());
    o.object("bias_regularizer", biasRegularizer, regularizerTable());
    o.refused("activity_regularizer", "penalties of each product");
    o.object("kernel_constraint", kernelConstraint, constraintTable());
    o.object("bias_constraint", biasConstraint, constraintTable());
    o.refused("use_gate", "gated heads", "false");
    o.maybeInteger("seed", seed, kAnyNumber);
  }
  std::vector<const char *> flagArguments() const override {
    return {"use_causal_mask"};
  }
  std::vector<const char *> tensorArguments() const override { return {"key"}; }
  std::string attributeOf(const std::string &inside) const override {
    return inside == "attention_output" ? "output_dense" : inside + "_dense";
  }

  /// One of the products; each draws weights of its own.
  Value product(Call &c, const char *name, Value x, const char *equation,
                std::vector<int64_t> shape, const char *biasAxes) const {
    EinsumDense dense;
    dense.equation = equation;
    dense.outputShape = std::move(shape);
    dense.biasAxes = useBias ? biasAxes : "";
    dense.kernelInitializer = cloneOf(kernelInitializer);
    dense.biasInitializer = cloneOf(biasInitializer);
    dense.kernelRegularizer = kernelRegularizer;
    dense.biasRegularizer = biasRegularizer;
    dense.kernelConstraint = kernelConstraint;
    dense.biasConstraint = biasConstraint;
    return c.run(dense, name, x);
  }
  /// The scores of positions that come later count for nothing.
  static Value causal(Tensors &t, Value scores) {
    auto type = tensorType(scores).clone(t.builder.getI32Type());
    auto positions = [&](int64_t dim) {
      return t.make<IotaOp>(type, t.builder.getI64IntegerAttr(dim), Value());
    };
    Value isSeen = t.compare(CompareKind::GE, positions(2), positions(3));
    return t.select(isSeen, scores, t.splat(-1e9, scores));
  }
  Value callAll(Call &c, const CallInputs &inputs) const override {
    size_t count = inputs.values.size();
    Value query = inputs.values[0];
    if (count < 2 || count > 3) {
      c.refuse("must be called with query, value and perhaps key, not with " +
               std::to_string(count) + " tensors");
      return query;
    }
    Value value = inputs.values[1], key = inputs.tensor("key");
    key = count > 2 ? inputs.values[2] : key ? key : value;
    if (!c.hasRank(query, 3) || !c.hasRank(value, 3) || !c.hasRank(key, 3))
      return query;
    if (c.t.size(key, 1) != c.t.size(value, 1)) {
      c.refuse("its key has " + std::to_string(c.t.size(key, 1)) +
               " positions, its value " + std::to_string(c.t.size(value, 1)));
      return query;
    }
    Tensors &t = c.t;
    int64_t features = t.size(query, 2), values = valueDim.value_or(keyDim);
    double scale = 1 / std::sqrt(double(keyDim));
    query = product(c, "query", query, "abc,cde->abde", {-1, numHeads, keyDim},
                    "de");
    key = product(c, "key", key, "abc,cde->abde", {-1, numHeads, keyDim}, "de");
    value = product(c, "value", value, "abc,cde->abde", {-1, numHeads, values},
                    "de");
    // Keras takes another way where nothing is dropped, with another order.
    if (rate > 0)
      query = t.mul(query, scale);
    Value scores =
        t.make<DotOp>(query, key, ArrayRef<int64_t>{3}, ArrayRef<int64_t>{3},
                      ArrayRef<int64_t>{0, 2}, ArrayRef<int64_t>{0, 2});
    if (rate == 0)
      scores = t.mul(scores, scale);
    if (inputs.flag("use_causal_mask"))
      scores = causal(t, scores);
    scores = t.softmax(scores, {3});
    if (rate > 0) {
      Dropout dropout;
      dropout.rate = rate;
      dropout.seed = std::static_pointer_cast<const Initializer>(
          Initializer::ofSeed(seed));
      scores = c.run(dropout, "dropout", scores);
    }
    Value out =
        t.make<DotOp>(scores, value, ArrayRef<int64_t>{3}, ArrayRef<int64_t>{1},
                      ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>{0, 2});
    return product(c, "attention_output", t.transpose(out, {0, 2, 1, 3}),
                   "abcd,cde->abe", {-1, features}, "e");
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H
