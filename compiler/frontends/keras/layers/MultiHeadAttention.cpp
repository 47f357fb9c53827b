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
  weightOptions(o, {{"kernel", kernel}, {"bias", bias}}, &productRegularizer);
  o.flag("use_gate", useGate);
  o.maybeInteger("seed", seed, kAnyNumber);
}

/// Applies an EinsumDense layer to x; its initializers are clones, which draw
/// their own seeds.
Tensor HeadAttention::product(Call &c, const char *name, Tensor x,
                              const std::string &equation,
                              std::vector<int64_t> shape,
                              const std::string &biasAxes,
                              const char *activation) const {
  EinsumDense dense;
  dense.equation = equation;
  dense.outputShape = std::move(shape);
  dense.activation.set(activation);
  dense.biasAxes = useBias ? biasAxes : "";
  dense.kernel = kernel;
  dense.bias = bias;
  for (Weight *weight : {&dense.kernel, &dense.bias})
    weight->initializer = cloneOf(weight->initializer);
  dense.outputRegularizer = productRegularizer;
  return c.run(dense, name, x);
}

/// An i1 mask of the key positions that each query position can attend to: none
/// after it if causal, and only those within the window; null without either.
static Tensor positions(Tensors &t, RankedTensorType bits, bool isCausal,
                        std::optional<int64_t> window) {
  auto numbers = bits.clone(t.builder.getI32Type());
  auto along = [&](int64_t dim) {
    return t.make<IotaOp>(numbers, t.builder.getI64IntegerAttr(dim), Tensor());
  };
  int64_t last = bits.getRank() - 1;
  Tensor row = along(last - 1), column = along(last), out;
  if (isCausal)
    out = row >= column;
  if (!window)
    return out;
  Tensor near = abs(row - column) < double(*window);
  return out ? out & near : near;
}

/// Combines the masks of query, value and key, the causal mask and the sliding
/// window; null if there are none.
Tensor HeadAttention::masksOfInputs(Call &c, const CallInputs &inputs,
                                    const Positions &of) const {
  Tensors &t = c.t;
  auto bits = RankedTensorType::get(of.seen, t.builder.getI1Type());
  bool isCausal = inputs.flag("use_causal_mask");
  if ((isCausal || slidingWindow) && of.axes != ArrayRef<int64_t>{1}) {
    c.refuse("masks positions by their order, which Keras does along axis 1; "
             "its \"attention_axes\" are " +
             shapeText(of.axes) + ", give an \"attention_mask\" instead");
    return {};
  }
  Tensor out;
  if (isCausal || slidingWindow)
    out = positions(t, bits, isCausal, slidingWindow);
  int64_t last = bits.getRank() - 1;
  auto add = [&](Tensor mask, int64_t without) {
    if (!mask)
      return;
    SmallVector<int64_t> dims, shape;
    for (int64_t dim = 0; dim <= last; ++dim)
      if (dim != without) {
        dims.push_back(dim);
        shape.push_back(of.seen[dim]);
      }
    bool isLast = of.axes.size() == 1 && of.axes[0] == last - 1;
    if (!isLast || t.shape(mask) != ArrayRef(shape))
      return c.refuse("a mask of the shape " + shapeText(t.shape(mask)) +
                      " does not fit " + shapeText(shape) +
                      " positions along axes " + shapeText(of.axes) +
                      "; masks have a value for each position");
    Tensor wide = t.make<BroadcastOp>(maskBits(mask), of.seen, dims);
    out = out ? out & wide : wide;
  };
  auto given = [&](const char *name, Tensor otherwise) {
    Tensor mask = inputs.tensor(name);
    return mask ? mask : otherwise;
  };
  add(readsQueryMask() ? given("query_mask", inputs.mask()) : inputs.mask(),
      last);
  add(given("value_mask", inputs.maskOf("value")), last - 1);
  add(given("key_mask", inputs.maskOf("key")), last - 1);
  return out;
}

/// Combines all masks of the call, in the shape of Positions::seen or, for a
/// mask with heads, of the scores; null if there are none.
Tensor HeadAttention::mask(Call &c, const CallInputs &inputs,
                           const Positions &of) const {
  Tensors &t = c.t;
  Tensor out = masksOfInputs(c, inputs, of);
  Tensor written = inputs.tensor("attention_mask");
  if (!written)
    return out;
  written = maskBits(written);
  SmallVector<int64_t> shape(of.seen);
  int64_t ofPositions = 2 * int64_t(of.axes.size());
  if (t.rank(written) == int64_t(shape.size()) + 1)
    shape = of.scores(heads().query);
  SmallVector<int64_t> filled(t.shape(written));
  // Dimensions of size 1 are inserted between the batch and the positions, as
  // in Keras.
  while (int64_t(filled.size()) >= ofPositions && filled.size() < shape.size())
    filled.insert(filled.end() - ofPositions, 1);
  Tensor wide =
      filled.size() == shape.size() ? t.reshape(written, filled) : written;
  if (filled.size() != shape.size() || !stretchesTo(wide, shape)) {
    c.refuse("its \"attention_mask\" " + sampleText(written) +
             " does not fit scores of shape " +
             shapeText(ArrayRef(shape).drop_front()) +
             " of a sample; give (query positions, key positions)");
    return out;
  }
  wide = t.stretch(wide, shape);
  if (out && t.rank(wide) != t.rank(out))
    out = of.forHeads(t, out, wide);
  return out ? out & wide : wide;
}

/// Computes jax.nn.dot_product_attention: scores and softmax are f32.
Tensor HeadAttention::fused(Tensors &t, Tensor query, Tensor key, Tensor value,
                            const Positions &of, Tensor mask) const {
  Tensor scores = t.make<DotOp>(
      query, key, ArrayRef<int64_t>{3}, ArrayRef<int64_t>{3},
      ArrayRef<int64_t>{0, 2}, ArrayRef<int64_t>{0, 2}, t.builder.getF32Type());
  scores = scores * (1 / std::sqrt(double(heads().keySize)));
  if (Tensor seen = of.forHeads(t, mask, scores))
    scores = select(seen, scores, -0.7 * FLT_MAX);
  scores = t.castLike(t.softmax(scores, {3}), value);
  Tensor out =
      t.make<DotOp>(scores, value, ArrayRef<int64_t>{3}, ArrayRef<int64_t>{1},
                    ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>{0, 2});
  return t.transpose(out, {0, 2, 1, 3});
}

/// Computes attention op by op, as Keras does if there is a dropout, the scores
/// are needed or the query's rank is above 3. Returns the result and the scores
/// before the dropout.
std::pair<Tensor, Tensor> HeadAttention::spelledOut(Call &c, Tensor query,
                                                    Tensor key, Tensor value,
                                                    const Positions &of,
                                                    Tensor mask) const {
  Tensors &t = c.t;
  query = query * (1 / std::sqrt(double(heads().keySize)));
  SmallVector<int64_t> shared(of.batch), softmaxAxes, inScores;
  int64_t count = int64_t(of.axes.size()), last = t.last(query);
  shared.push_back(last - 1);
  for (int64_t i = 0; i < count; ++i)
    softmaxAxes.push_back(int64_t(shared.size()) + count + i);
  Tensor scores = t.make<DotOp>(query, key, ArrayRef<int64_t>{last},
                                ArrayRef<int64_t>{last}, shared, shared);
  Softmax softmax;
  softmax.axis.assign(softmaxAxes.begin(), softmaxAxes.end());
  scores = softmax.callAll(c, CallInputs(scores, of.forHeads(t, mask, scores)));
  Tensor kept = scores;
  if (rate > 0) {
    Dropout dropout;
    dropout.rate = rate;
    dropout.seed =
        std::static_pointer_cast<const Initializer>(Initializer::ofSeed(seed));
    kept = c.run(dropout, "dropout", scores);
  }
  for (size_t i = 0; i < shared.size(); ++i)
    inScores.push_back(int64_t(i));
  Tensor out =
      t.make<DotOp>(kept, value, softmaxAxes, of.axes, inScores, shared);
  // The permutation from (batch, heads, positions, size of a head) to the
  // query's order.
  SmallVector<int64_t> order(last + 1);
  for (auto [i, dim] : llvm::enumerate(shared))
    order[dim] = int64_t(i);
  for (auto [i, dim] : llvm::enumerate(of.axes))
    order[dim] = int64_t(shared.size() + i);
  order[last] = last;
  return {t.transpose(out, order), scores};
}

SmallVector<int64_t> HeadAttention::Positions::scores(int64_t heads) const {
  SmallVector<int64_t> shape(seen);
  shape.insert(shape.begin() + int64_t(batch.size()), heads);
  return shape;
}

Tensor HeadAttention::Positions::forHeads(Tensors &t, Tensor mask,
                                          Tensor scores) const {
  if (!mask || t.rank(mask) == t.rank(scores))
    return mask;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < t.rank(scores); ++dim)
    if (dim != int64_t(batch.size()))
      dims.push_back(dim);
  return t.make<BroadcastOp>(mask, t.shape(scores), dims);
}

std::optional<HeadAttention::Positions>
HeadAttention::accepts(Call &c, Tensor query, Tensor key, Tensor value) const {
  Tensors &t = c.t;
  int64_t rank = t.rank(query);
  SmallVector<int64_t> axes = axesOf(rank);
  if (!c.hasRank(query, axes.empty() ? 3 : rank) || !c.hasRank(value, rank) ||
      !c.hasRank(key, rank))
    return std::nullopt;
  Positions of;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis < 1 || axis > rank - 2 || (i && axes[i - 1] >= axis)) {
      c.refuse("\"attention_axes\" " + shapeText(axes) +
               " must be rising dimensions between the batch and the features "
               "of a tensor of rank " +
               std::to_string(rank));
      return std::nullopt;
    }
  of.axes = axes;
  bool isGood = t.shape(key).drop_back() == t.shape(value).drop_back();
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    if (!llvm::is_contained(axes, dim)) {
      of.batch.push_back(dim);
      of.seen.push_back(t.size(query, dim));
      isGood &= t.size(query, dim) == t.size(key, dim);
    }
  for (Tensor side : {query, key})
    for (int64_t axis : axes)
      of.seen.push_back(t.size(side, axis));
  if (isGood)
    return of;
  c.refuse("its query, key and value have samples of shapes " +
           sampleText(query) + ", " + sampleText(key) + " and " +
           sampleText(value) +
           "; give key and value as many positions, and all of them the same "
           "sizes outside \"attention_axes\" " +
           shapeText(axes));
  return std::nullopt;
}

/// The `count` letters from 'a' + `first` on.
static std::string letters(size_t first, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += char('a' + first + i);
  return out;
}

std::vector<Tensor> HeadAttention::results(Call &c,
                                           const CallInputs &inputs) const {
  Tensors &t = c.t;
  Tensor query = inputs.values[0], value = inputs.tensor("value");
  bool givesScores = inputs.flag("return_attention_scores");
  std::vector<Tensor> refused(givesScores ? 2 : 1, query);
  if (inputs.values.size() != 1 || !value) {
    c.refuse("must be called with query, value and perhaps key");
    return refused;
  }
  Tensor key = inputs.tensor("key") ? inputs.tensor("key") : value;
  std::optional<Positions> of = accepts(c, query, key, value);
  if (!of)
    return refused;
  Tensor mask = this->mask(c, inputs, *of), gate;
  Heads heads = this->heads();
  size_t free = size_t(t.rank(query)) - 1;
  std::vector<int64_t> shape = outputShape.empty()
                                   ? std::vector<int64_t>{t.size(query, -1)}
                                   : outputShape;
  if (shape.size() + free > 20) {
    c.refuse("\"output_shape\" " + shapeText(shape) +
             " has too many dimensions");
    return refused;
  }
  std::string ahead = letters(0, free), head = letters(free + 1, 2),
              given = letters(free + 2, shape.size());
  Tensor whole = query;
  auto project = [&](const char *name, Tensor x, int64_t count, int64_t size,
                     const char *activation = "linear") {
    std::vector<int64_t> each(free - 1, -1);
    each.insert(each.end(), {count, size});
    std::string in = letters(free, 1);
    return product(c, name, x,
                   ahead + in + "," + in + head + "->" + ahead + head, each,
                   head, activation);
  };
  query = project("query", whole, heads.query, heads.keySize);
  key = project("key", key, heads.keyValue, heads.keySize);
  if (useGate)
    gate = project("gate", whole, heads.query, heads.valueSize, "sigmoid");
  value = project("value", value, heads.keyValue, heads.valueSize);
  if (int64_t times = heads.query / heads.keyValue; times > 1) {
    key = t.repeat(key, 2, times);
    value = t.repeat(value, 2, times);
  }
  bool isFused = rate == 0 && !givesScores && free == 2;
  auto [out, scores] =
      isFused ? std::pair(fused(t, query, key, value, *of, mask), Tensor())
              : spelledOut(c, query, key, value, *of, mask);
  if (gate)
    out = out * gate;
  shape.insert(shape.begin(), free - 1, -1);
  std::string inside = letters(free, 2);
  out = product(c, "attention_output", out,
                ahead + inside + "," + inside + given + "->" + ahead + given,
                shape, given);
  return givesScores ? std::vector<Tensor>{out, scores}
                     : std::vector<Tensor>{out};
}
