//===- MultiHeadAttention.h - attention of several heads ----*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H

#include "weft/compiler/frontends/keras/layers/Dropout.h"
#include "weft/compiler/frontends/keras/layers/EinsumDense.h"

namespace weft::keras {

/// softmax(query . key / sqrt(size of a head)) . value for each of several heads,
/// over tensors (batch, positions, features); query, key, value and result are
/// each a matrix product before.
class HeadAttention : public Layer {
protected:
  struct Heads {
    int64_t query, keyValue; ///< how many; the second divides the first
    int64_t keySize, valueSize;
  };
  double rate = 0;
  bool useBias = true;
  std::optional<int64_t> seed;
  InitializerPtr kernelInitializer = glorotUniform(), biasInitializer = zeros();
  RegularizerPtr kernelRegularizer, biasRegularizer;
  ConstraintPtr kernelConstraint, biasConstraint;

  void sharedOptions(Options &o) {
    o.number("dropout", rate, kShare);
    o.flag("use_bias", useBias);
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
  virtual Heads heads() const = 0;
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
    return attended(c, query, key, value, inputs.flag("use_causal_mask"));
  }
  Value attended(Call &c, Value query, Value key, Value value,
                 bool isCausal) const {
    Tensors &t = c.t;
    Heads heads = this->heads();
    int64_t features = t.size(query, 2);
    double scale = 1 / std::sqrt(double(heads.keySize));
    query = product(c, "query", query, "abc,cde->abde",
                    {-1, heads.query, heads.keySize}, "de");
    key = product(c, "key", key, "abc,cde->abde",
                  {-1, heads.keyValue, heads.keySize}, "de");
    value = product(c, "value", value, "abc,cde->abde",
                    {-1, heads.keyValue, heads.valueSize}, "de");
    if (int64_t times = heads.query / heads.keyValue; times > 1) {
      key = t.repeat(key, 2, times);
      value = t.repeat(value, 2, times);
    }
    // Keras takes another way where nothing is dropped, with another order.
    if (rate > 0)
      query = t.mul(query, scale);
    Value scores =
        t.make<DotOp>(query, key, ArrayRef<int64_t>{3}, ArrayRef<int64_t>{3},
                      ArrayRef<int64_t>{0, 2}, ArrayRef<int64_t>{0, 2});
    if (rate == 0)
      scores = t.mul(scores, scale);
    if (isCausal)
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

/// As many heads of keys and values as of queries.
/// keras.layers.MultiHeadAttention
class MultiHeadAttention : public HeadAttention {
  int64_t numHeads = 0, keyDim = 0;
  std::optional<int64_t> valueDim;
  std::vector<int64_t> attentionAxes;

  void options(Options &o) override {
    o.integer("num_heads", numHeads, kPositive);
    o.integer("key_dim", keyDim, kPositive);
    o.maybeInteger("value_dim", valueDim, kPositive);
    o.refused("output_shape", "results of another shape");
    o.axes("attention_axes", attentionAxes);
    o.check(attentionAxes.empty() || attentionAxes == std::vector<int64_t>{1},
            "\"attention_axes\" must be [1] or null: attention along one "
            "dimension");
    sharedOptions(o);
  }
  Heads heads() const override {
    return {numHeads, numHeads, keyDim, valueDim.value_or(keyDim)};
  }
};

/// Several heads of queries share one of keys and values.
/// keras.layers.GroupQueryAttention
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
  std::string savedName() const override { return "grouped_query_attention"; }
  std::string attributeOf(const std::string &inside) const override {
    return "_" + HeadAttention::attributeOf(inside);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MULTIHEADATTENTION_H
