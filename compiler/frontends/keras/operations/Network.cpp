//===- Network.cpp - normalizations and attention as functions ------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// Divides x by its 1-norm or 2-norm along axes.
static Tensor normalize(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  SmallVector<int64_t> dims = a.dims("axis", x);
  double epsilon = a.number("epsilon", kEpsilon);
  int64_t order = a.integer("order", 2);
  if (!a.check(order == 1 || order == 2,
               "\"order\" is " + std::to_string(order) + "; use 1 or 2"))
    return x;
  if (order == 2) {
    Tensor total = t.reduce(ReduceKind::Sum, x * x, dims);
    Tensor inverse = min(rsqrt(total), 1 / epsilon);
    return x * t.spread(inverse, x, dims);
  }
  Tensor total = t.reduce(ReduceKind::Sum, abs(x), dims);
  return x / t.spread(max(total, epsilon), x, dims);
}

/// Broadcasts a factor or summand to the shape of x: along `dims`, or as in
/// NumPy.
static Tensor alongDims(OperationCall &a, const char *name, Tensor x,
                        ArrayRef<int64_t> dims) {
  Tensors &t = a.t;
  Tensor value = castTo(t, a.tensor(name), elementOf(x));
  SmallVector<int64_t> sizes;
  for (int64_t dim : dims)
    sizes.push_back(t.size(x, dim));
  if (t.shape(value) == ArrayRef<int64_t>(sizes))
    return t.make<BroadcastOp>(value, t.shape(x), dims);
  SmallVector<Tensor> both = a.stretched({value, x});
  a.check(t.shape(both[0]) == t.shape(x),
          "\"" + std::string(name) + "\" of shape " +
              shapeText(t.shape(value)) + " does not fit " +
              shapeText(t.shape(x)));
  return t.shape(both[0]) == t.shape(x) ? both[0] : x;
}
static Tensor rmsNorm(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  SmallVector<int64_t> dims = a.dims("axis", x);
  Tensor mean = t.mean(x * x, dims);
  Tensor inverse = rsqrt(mean + a.number("epsilon", kEpsilon));
  x = x * t.spread(inverse, x, dims);
  return a.given("scale") ? x * alongDims(a, "scale", x, dims) : x;
}
static Tensor layerNorm(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  SmallVector<int64_t> dims = a.dims("axis", x);
  Tensor mean = t.mean(x, dims), variance = t.variance(x, mean, dims);
  Tensor inverse =
      t.spread(rsqrt(variance + a.number("epsilon", kEpsilon)), x, dims);
  if (a.given("gamma"))
    inverse = inverse * alongDims(a, "gamma", x, dims);
  if (a.flag("rms_scaling"))
    return x * inverse;
  Tensor rest = -t.spread(mean, x, dims) * inverse;
  if (a.given("beta"))
    rest = rest + alongDims(a, "beta", x, dims);
  return x * inverse + rest;
}
static Tensor batchNorm(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  if (!a.check(t.rank(x) > 0, "takes no scalar"))
    return x;
  SmallVector<int64_t> dims = {a.dim("axis", t.rank(x))};
  Tensor inverse =
      rsqrt(alongDims(a, "variance", x, dims) + a.number("epsilon", 1e-3));
  if (a.given("scale"))
    inverse = inverse * alongDims(a, "scale", x, dims);
  Tensor rest = -alongDims(a, "mean", x, dims) * inverse;
  if (a.given("offset"))
    rest = rest + alongDims(a, "offset", x, dims);
  return x * inverse + rest;
}
static SmallVector<Tensor> moments(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  SmallVector<int64_t> dims = a.dims("axes", x);
  Tensor mean = t.mean(x, dims), variance = t.variance(x, mean, dims);
  if (!a.flag("keepdims"))
    return {mean, variance};
  return {t.kept(mean, x, dims), t.kept(variance, x, dims)};
}

/// Adds the call's bias to logits, and sets masked logits to a very low number.
static Tensor masked(OperationCall &a, Tensor logits) {
  Tensors &t = a.t;
  auto refuse = [&](const char *name, Tensor x) {
    return a.check(t.shape(x) == t.shape(logits),
                   "\"" + std::string(name) + "\" of shape " +
                       shapeText(t.shape(a.tensor(name))) +
                       " does not fit logits of shape " +
                       shapeText(t.shape(logits)));
  };
  if (a.given("bias")) {
    Tensor bias = castTo(t, a.floats("bias"), elementOf(logits));
    bias = a.stretched({bias, logits})[0];
    if (!refuse("bias", bias))
      return logits;
    logits = logits + bias;
  }
  Tensor least = t.splat(-0.7 * 3.4028234663852886e38, logits);
  if (a.given("mask")) {
    Tensor mask = a.stretched(
        {castTo(t, a.tensor("mask"), t.builder.getI1Type()), logits})[0];
    if (!refuse("mask", mask))
      return logits;
    logits = select(mask, logits, least);
  }
  if (a.flag("is_causal")) {
    auto type = tensorType(logits).clone(t.builder.getI32Type());
    auto count = [&](int64_t dim) {
      return t.make<IotaOp>(type, t.builder.getI64IntegerAttr(dim), Tensor());
    };
    logits = select(count(2) >= count(3), logits, least);
  }
  return logits;
}

/// Attention of (batch, time, heads, depth); heads of the key and the value are
/// repeated for groups of query heads. Logits and softmax are at least f32, as
/// in jax.nn.dot_product_attention.
static Tensor attention(OperationCall &a) {
  Tensors &t = a.t;
  Tensor query = a.floats("query"), key = a.floats("key"),
         value = a.floats("value");
  bool isGood = t.rank(query) == 4 && t.rank(key) == 4 && t.rank(value) == 4;
  isGood = isGood && t.size(query, 0) == t.size(key, 0) &&
           t.size(query, 3) == t.size(key, 3) &&
           t.shape(key).take_front(3) == t.shape(value).take_front(3) &&
           t.size(query, 2) % t.size(key, 2) == 0;
  if (!a.check(isGood, "query, key and value of shapes " +
                           shapeText(t.shape(query)) + ", " +
                           shapeText(t.shape(key)) + ", " +
                           shapeText(t.shape(value)) +
                           " are not (batch, time, heads, depth) that fit"))
    return query;
  int64_t groups = t.size(query, 2) / t.size(key, 2);
  if (groups > 1) {
    key = t.repeat(key, 2, groups);
    value = t.repeat(value, 2, groups);
  }
  using Dims = ArrayRef<int64_t>;
  double scale = a.number("scale", 1 / std::sqrt(double(t.size(query, 3))));
  Tensor logits = t.make<DotOp>(t.wide(query), t.wide(key), Dims{3}, Dims{3},
                                Dims{0, 2}, Dims{0, 2}) *
                  scale;
  logits = masked(a, logits);
  Tensor weights = t.castLike(t.softmax(logits, {3}), value);
  Tensor out =
      t.make<DotOp>(weights, value, Dims{3}, Dims{1}, Dims{0, 1}, Dims{0, 2});
  return t.transpose(out, {0, 2, 1, 3});
}

std::vector<OperationRow> weft::keras::networkOperations() {
  return {
      operation("BatchNorm", {"x", "mean", "variance", "offset", "scale"},
                {{"axis"}, {"epsilon", "0.001"}}, batchNorm),
      operation("DotProductAttention",
                {"query", "key", "value", "bias", "mask", "scale"},
                {{"is_causal", "false"},
                 {"flash_attention"},
                 {"attn_logits_soft_cap", "null", "a cap that JAX ignores"}},
                attention),
      operation("LayerNorm", {"x", "gamma", "beta"},
                {{"axis", "-1"}, {"epsilon"}, {"rms_scaling", "false"}},
                layerNorm),
      {"Moments",
       {"x"},
       {{"axes"},
        {"keepdims", "false"},
        {"synchronized", "false", "moments over devices, which JAX refuses"}},
       moments},
      operation("Normalize", {"x"},
                {{"axis", "-1"}, {"order", "2"}, {"epsilon"}}, normalize),
      operation("RMSNorm", {"x", "scale"}, {{"axis", "-1"}, {"epsilon"}},
                rmsNorm)};
}
