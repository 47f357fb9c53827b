//===- MultiHeadAttention.cpp - attention of several heads ----------------===//

#include "weft/compiler/frontends/keras/layers/MultiHeadAttention.h"
#include "weft/compiler/frontends/keras/layers/Masking.h"
#include "weft/compiler/frontends/keras/layers/Softmax.h"

#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void HeadAttention::sharedOptions(Options &o) {
  o.number("dropout", rate, kShare);
  o.flag("use_bias", useBias);
  o.maybeInteger("sliding_window", slidingWindow, kPositive);
  o.refused("flash_attention", "another algorithm");
  o.object("kernel_initializer", kernelInitializer, initializerTable());
  o.object("bias_initializer", biasInitializer, initializerTable());
  o.object("kernel_regularizer", kernelRegularizer, regularizerTable());
  o.object("bias_regularizer", biasRegularizer, regularizerTable());
  o.object("activity_regularizer", productRegularizer, regularizerTable());
  o.object("kernel_constraint", kernelConstraint, constraintTable());
  o.object("bias_constraint", biasConstraint, constraintTable());
  o.flag("use_gate", useGate);
  o.maybeInteger("seed", seed, kAnyNumber);
}

/// One of the products; each draws weights of its own.
Value HeadAttention::product(Call &c, const char *name, Value x,
                             const std::string &equation,
                             std::vector<int64_t> shape,
                             const std::string &biasAxes,
                             const char *activation) const {
  EinsumDense dense;
  dense.equation = equation;
  dense.outputShape = std::move(shape);
  dense.activation = activationTable().make(activation);
  dense.biasAxes = useBias ? biasAxes : "";
  dense.kernelInitializer = cloneOf(kernelInitializer);
  dense.biasInitializer = cloneOf(biasInitializer);
  dense.kernelRegularizer = kernelRegularizer;
  dense.biasRegularizer = biasRegularizer;
  dense.outputRegularizer = productRegularizer;
  dense.kernelConstraint = kernelConstraint;
  dense.biasConstraint = biasConstraint;
  return c.run(dense, name, x);
}

/// Are positions of the key seen from those of the query, by their distance?
static Value positions(Tensors &t, RankedTensorType bits, bool isCausal,
                       std::optional<int64_t> window) {
  auto numbers = bits.clone(t.builder.getI32Type());
  auto along = [&](int64_t dim) {
    return t.make<IotaOp>(numbers, t.builder.getI64IntegerAttr(dim), Value());
  };
  Value row = along(1), column = along(2), out;
  if (isCausal)
    out = t.compare(CompareKind::GE, row, column);
  if (!window)
    return out;
  Value near = t.compare(CompareKind::LT, t.make<AbsOp>(t.sub(row, column)),
                         double(*window));
  return out ? t.make<AndOp>(out, near) : near;
}

/// (batch, query positions, key positions), or with heads after the batch: all
/// masks that the call has; null where it has none.
Value HeadAttention::mask(Call &c, const CallInputs &inputs, Value query,
                          Value value) const {
  Tensors &t = c.t;
  auto bits = RankedTensorType::get(
      {t.size(query, 0), t.size(query, 1), t.size(value, 1)},
      t.builder.getI1Type());
  Value out = positions(t, bits, inputs.flag("use_causal_mask"), slidingWindow);
  auto add = [&](Value mask, int64_t dim) {
    if (!mask)
      return;
    if (t.rank(mask) != 2 || t.size(mask, 1) != bits.getDimSize(dim))
      return c.refuse("a mask of the shape " + shapeText(t.shape(mask)) +
                      " does not fit " + std::to_string(bits.getDimSize(dim)) +
                      " positions; masks have a value for each position");
    Value wide = t.make<BroadcastOp>(maskBits(t, mask), bits.getShape(),
                                     ArrayRef<int64_t>{0, dim});
    out = out ? t.make<AndOp>(out, wide) : wide;
  };
  auto given = [&](const char *name, Value otherwise) {
    Value mask = inputs.tensor(name);
    return mask ? mask : otherwise;
  };
  add(readsQueryMask() ? given("query_mask", inputs.mask()) : inputs.mask(), 1);
  add(given("value_mask", inputs.maskOf("value")), 2);
  add(given("key_mask", inputs.maskOf("key")), 2);
  Value written = inputs.tensor("attention_mask");
  if (!written)
    return out;
  written = maskBits(t, written);
  SmallVector<int64_t> shape(bits.getShape());
  if (t.rank(written) == 4)
    shape.insert(shape.begin() + 1, heads().query);
  if (!stretchesTo(written, shape)) {
    c.refuse("its \"attention_mask\" " + shapeText(t.shape(written)) +
             " does not fit scores of shape " + shapeText(shape) +
             "; give (batch, query positions, key positions)");
    return out;
  }
  written = t.stretch(written, shape);
  if (out && t.rank(written) == 4)
    out = t.make<BroadcastOp>(out, shape, ArrayRef<int64_t>{0, 2, 3});
  return out ? t.make<AndOp>(out, written) : written;
}

/// A mask in the shape of the scores, which have heads after the batch.
static Value forHeads(Tensors &t, Value mask, Value scores) {
  if (!mask || t.rank(mask) == 4)
    return mask;
  return t.make<BroadcastOp>(mask, t.shape(scores), ArrayRef<int64_t>{0, 2, 3});
}

/// jax.nn.dot_product_attention: scores and softmax are f32.
Value HeadAttention::fused(Tensors &t, Value query, Value key, Value value,
                           Value mask) const {
  Value scores = t.make<DotOp>(query, key, ArrayRef<int64_t>{3},
                               ArrayRef<int64_t>{3}, ArrayRef<int64_t>{0, 2},
                               ArrayRef<int64_t>{0, 2}, t.builder.getF32Type());
  scores = t.mul(scores, 1 / std::sqrt(double(heads().keySize)));
  if (Value seen = forHeads(t, mask, scores))
    scores = t.select(seen, scores, t.splat(-0.7 * FLT_MAX, scores));
  scores = t.castLike(t.softmax(scores, {3}), value);
  return t.make<DotOp>(scores, value, ArrayRef<int64_t>{3},
                       ArrayRef<int64_t>{1}, ArrayRef<int64_t>{0, 1},
                       ArrayRef<int64_t>{0, 2});
}

/// What Keras does where it needs the scores: the result, and the scores.
std::pair<Value, Value> HeadAttention::spelledOut(Call &c, Value query,
                                                  Value key, Value value,
                                                  Value mask) const {
  Tensors &t = c.t;
  query = t.mul(query, 1 / std::sqrt(double(heads().keySize)));
  Value scores =
      t.make<DotOp>(query, key, ArrayRef<int64_t>{3}, ArrayRef<int64_t>{3},
                    ArrayRef<int64_t>{0, 2}, ArrayRef<int64_t>{0, 2});
  scores = Softmax().callAll(c, CallInputs(scores, forHeads(t, mask, scores)));
  Value kept = scores;
  if (rate > 0) {
    Dropout dropout;
    dropout.rate = rate;
    dropout.seed =
        std::static_pointer_cast<const Initializer>(Initializer::ofSeed(seed));
    kept = c.run(dropout, "dropout", scores);
  }
  return {t.make<DotOp>(kept, value, ArrayRef<int64_t>{3}, ArrayRef<int64_t>{1},
                        ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>{0, 2}),
          scores};
}

bool HeadAttention::accepts(Call &c, Value query, Value key,
                            Value value) const {
  if (!c.hasRank(query, 3) || !c.hasRank(value, 3) || !c.hasRank(key, 3))
    return false;
  bool isGood = c.t.size(key, 1) == c.t.size(value, 1);
  if (!isGood)
    c.refuse("its key has " + std::to_string(c.t.size(key, 1)) +
             " positions, its value " + std::to_string(c.t.size(value, 1)));
  return isGood;
}

std::vector<Value> HeadAttention::results(Call &c,
                                          const CallInputs &inputs) const {
  Tensors &t = c.t;
  Value query = inputs.values[0], value = inputs.tensor("value");
  bool givesScores = inputs.flag("return_attention_scores");
  std::vector<Value> refused(givesScores ? 2 : 1, query);
  if (inputs.values.size() != 1 || !value) {
    c.refuse("must be called with query, value and perhaps key");
    return refused;
  }
  Value key = inputs.tensor("key") ? inputs.tensor("key") : value;
  if (!accepts(c, query, key, value))
    return refused;
  Value mask = this->mask(c, inputs, query, value), gate;
  Heads heads = this->heads();
  std::vector<int64_t> shape = outputShape.empty()
                                   ? std::vector<int64_t>{t.size(query, 2)}
                                   : outputShape;
  if (shape.size() > 20) {
    c.refuse("\"output_shape\" " + shapeText(shape) +
             " has too many dimensions");
    return refused;
  }
  std::string in = "abc,cde->abde", letters;
  for (size_t i = 0; i < shape.size(); ++i)
    letters += char('e' + i);
  Value whole = query;
  query =
      product(c, "query", whole, in, {-1, heads.query, heads.keySize}, "de");
  key = product(c, "key", key, in, {-1, heads.keyValue, heads.keySize}, "de");
  if (useGate)
    gate = product(c, "gate", whole, in, {-1, heads.query, heads.valueSize},
                   "de", "sigmoid");
  value = product(c, "value", value, in, {-1, heads.keyValue, heads.valueSize},
                  "de");
  if (int64_t times = heads.query / heads.keyValue; times > 1) {
    key = t.repeat(key, 2, times);
    value = t.repeat(value, 2, times);
  }
  Value out, scores;
  if (rate == 0 && !givesScores)
    out = fused(t, query, key, value, mask);
  else
    std::tie(out, scores) = spelledOut(c, query, key, value, mask);
  out = t.transpose(out, {0, 2, 1, 3});
  if (gate)
    out = t.mul(out, gate);
  shape.insert(shape.begin(), -1);
  out = product(c, "attention_output", out,
                "abcd,cd" + letters + "->ab" + letters, shape, letters);
  return givesScores ? std::vector<Value>{out, scores}
                     : std::vector<Value>{out};
}
