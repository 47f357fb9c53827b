//===- Attention.cpp - attention of one head ------------------------------===//

#include "weft/compiler/frontends/keras/layers/Attention.h"
#include "weft/compiler/frontends/keras/layers/Masking.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Tensor Attention::pairs(Tensors &t, Tensor query, Tensor key, Tensor scale) {
  SmallVector<int64_t> shape = {t.size(query, 0), t.size(query, 1),
                                t.size(key, 1), t.size(query, 2)};
  Tensor sum = t.make<BroadcastOp>(query, shape, ArrayRef<int64_t>{0, 1, 3}) +
               t.make<BroadcastOp>(key, shape, ArrayRef<int64_t>{0, 2, 3});
  return tanh(scale ? scale * sum : sum);
}

Tensor Attention::scores(Call &c, Tensor query, Tensor key) const {
  Tensors &t = c.t;
  Tensor scale = useScale ? c.weight("scale", {}, {one}) : Tensor();
  if (scoreMode == "concat") {
    Tensor factor = c.weight("concat_score_weight", {}, {one});
    Tensor sums = t.reduce(ReduceKind::Sum, pairs(t, query, key, scale), {3});
    return factor * sums;
  }
  Tensor scores =
      t.make<DotOp>(query, key, ArrayRef<int64_t>{2}, ArrayRef<int64_t>{2},
                    ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0});
  return scale ? scores * scale : scores;
}

Tensor AdditiveAttention::scores(Call &c, Tensor query, Tensor key) const {
  Tensors &t = c.t;
  Tensor out = pairs(t, query, key);
  if (useScale) {
    c.construct(scaleInitializer);
    Tensor scale = c.weight("scale", {t.size(query, 2)}, {scaleInitializer});
    out = t.along(scale, out) * out;
  }
  return t.reduce(ReduceKind::Sum, out, {3});
}

/// Lowers the scores of positions that the values' mask or the causal mask
/// excludes, by a number that makes their softmax 0.
Tensor Attention::masked(Call &c, const CallInputs &inputs,
                         Tensor scores) const {
  Tensors &t = c.t;
  Tensor seen, mask = inputs.mask(1);
  if (inputs.flag("use_causal_mask")) {
    auto numbers = tensorType(scores).clone(t.builder.getI32Type());
    auto along = [&](int64_t dim) {
      return t.make<IotaOp>(numbers, t.builder.getI64IntegerAttr(dim),
                            Tensor());
    };
    seen = along(1) >= along(2);
  }
  if (mask) {
    Tensor wide = t.make<BroadcastOp>(maskBits(mask), t.shape(scores),
                                      ArrayRef<int64_t>{0, 2});
    seen = seen ? wide & seen : wide;
  }
  if (!seen)
    return scores;
  double most = tensorType(scores).getElementType().isF16() ? 65504 : 1e9;
  return select(seen, scores, scores + -most);
}

bool Attention::accepts(Call &c, const CallInputs &inputs) const {
  size_t count = inputs.values.size();
  if (count < 2 || count > 3) {
    c.refuse("must be called with a list of query, value and perhaps key, not "
             "of " +
             std::to_string(count) + " tensors");
    return false;
  }
  for (Tensor x : inputs.values)
    if (!c.hasRank(x, 3))
      return false;
  Tensor query = inputs.values[0], value = inputs.values[1],
         key = inputs.values.back();
  bool isGood = c.t.size(query, 2) == c.t.size(key, 2) &&
                c.t.size(key, 1) == c.t.size(value, 1);
  if (!isGood)
    c.refuse("query " + sampleText(query) + ", value " + sampleText(value) +
             " and key " + sampleText(key) +
             " do not fit; key has the query's features and the value's "
             "positions");
  for (size_t i = 0; i < 2; ++i)
    if (Tensor mask = inputs.mask(i);
        mask && c.t.shape(mask) != c.t.shape(inputs.values[i]).take_front(2)) {
      c.refuse("its mask " + sampleText(mask) +
               " does not fit samples of shape " +
               sampleText(inputs.values[i]) +
               "; masks have a value for each position");
      return false;
    }
  return isGood;
}

std::vector<Tensor> Attention::results(Call &c,
                                       const CallInputs &inputs) const {
  Tensors &t = c.t;
  Tensor query = inputs.values[0];
  bool givesScores = inputs.flag("return_attention_scores");
  if (!accepts(c, inputs))
    return std::vector<Tensor>(givesScores ? 2 : 1, query);
  Tensor value = inputs.values[1];
  Tensor scores =
      masked(c, inputs, this->scores(c, query, inputs.values.back()));
  Tensor weights = t.softmax(scores, {2});
  if (seed)
    weights = c.dropout(weights, rate, seed);
  Tensor out =
      t.make<DotOp>(weights, value, ArrayRef<int64_t>{2}, ArrayRef<int64_t>{1},
                    ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0});
  if (Tensor mask = inputs.mask()) {
    Tensor wide = t.make<BroadcastOp>(maskBits(mask), t.shape(out),
                                      ArrayRef<int64_t>{0, 1});
    out = select(wide, out, 0);
  }
  return givesScores ? std::vector<Tensor>{out, weights}
                     : std::vector<Tensor>{out};
}
