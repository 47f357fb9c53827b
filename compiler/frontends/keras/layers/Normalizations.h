//===- Normalizations.h - keras.layers.BatchNormalization and others *- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_NORMALIZATIONS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_NORMALIZATIONS_H

#include "weft/compiler/frontends/keras/layers/Masking.h"
#include "weft/compiler/frontends/keras/layers/Renormalization.h"

namespace weft::keras {

/// The weights gamma and beta, a factor and a summand for each feature, which
/// the normalizations share.
class Normalization : public Layer {
protected:
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Weight beta{zeros()}, gamma{ones()};

  void switches(Options &o) {
    o.number("epsilon", epsilon, kAnyNumber);
    o.flag("center", center);
    o.flag("scale", scale);
    initializerOptions(o, {{"beta", beta}, {"gamma", gamma}});
  }
  void rules(Options &o) {
    regularizerOptions(o, {{"beta", beta}, {"gamma", gamma}});
    constraintOptions(o, {{"beta", beta}, {"gamma", gamma}});
  }
  /// A weight, converted from its own type to f32, as normalizations compute in
  /// f32 with any policy.
  static Tensor wideWeight(Call &c, const char *name,
                           std::vector<int64_t> shape, Weight rules) {
    rules.keepsType = true;
    return c.t.wide(c.weight(name, std::move(shape), rules));
  }
  /// The weight gamma; null if `scale` is false.
  Tensor factor(Call &c, std::vector<int64_t> shape) const {
    return scale ? wideWeight(c, "gamma", std::move(shape), gamma) : Tensor();
  }
  /// The weight beta; null if `center` is false.
  Tensor summand(Call &c, std::vector<int64_t> shape) const {
    return center ? wideWeight(c, "beta", std::move(shape), beta) : Tensor();
  }
  using Shaped = llvm::function_ref<Tensor(Tensor)>;
  static Tensor asIs(Tensor v) { return v; }
  /// x * inv + (beta - mean * inv), where inv = gamma / sqrt(variance +
  /// epsilon). `spread` broadcasts mean and variance to the shape of gamma and
  /// beta, which may be null; `back` broadcasts that shape to that of x.
  Tensor normalized(Tensors &t, Tensor x, Tensor mean, Tensor variance,
                    Tensor gamma, Tensor beta, Shaped spread,
                    Shaped back) const {
    Tensor inverse = spread(rsqrt(variance + epsilon));
    if (gamma)
      inverse = inverse * gamma;
    Tensor rest = spread(-mean) * inverse;
    if (beta)
      rest = rest + beta;
    return x * back(inverse) + back(rest);
  }
};

/// Normalizes by mean and variance of the batch in training, which also updates
/// the moving statistics, and by the moving statistics otherwise or if the
/// layer is frozen. `renorm` corrects training by further statistics.
/// keras.layers.BatchNormalization
class BatchNormalization : public Normalization {
  int64_t axis = -1;
  double momentum = 0.99;
  Renormalization renorm;
  InitializerPtr meanInitializer = zeros(), varianceInitializer = ones();

  void options(Options &o) override {
    o.integer("axis", axis, kAnyNumber);
    o.number("momentum", momentum, kAnyNumber);
    switches(o);
    o.object("moving_mean_initializer", meanInitializer, initializerTable());
    o.object("moving_variance_initializer", varianceInitializer,
             initializerTable());
    rules(o);
    renorm.options(o);
    o.refused("synchronized",
              "statistics are those of the whole batch on any "
              "mesh; Keras on JAX has no such option",
              "false");
  }
  Facts facts() const override {
    return {.tensors = {"inputs", "mask"}, .passesMask = true};
  }
  /// Mean and variance of the elements that are not masked.
  static std::pair<Tensor, Tensor> moments(Tensors &t, Tensor x, Tensor mask,
                                           ArrayRef<int64_t> dims) {
    if (!mask) {
      Tensor mean = t.mean(x, dims);
      return {mean, t.variance(x, mean, dims)};
    }
    SmallVector<int64_t> kept;
    for (int64_t i = 0; i < t.rank(mask); ++i)
      kept.push_back(i);
    Tensor wide = t.make<BroadcastOp>(maskBits(mask), t.shape(x), kept);
    Tensor zero = t.splat(0, x);
    auto share = [&](Tensor of, Tensor count) {
      Tensor total = t.reduce(ReduceKind::Sum, select(wide, of, zero), dims);
      return total / (count + kEpsilon);
    };
    Tensor count = t.reduce(ReduceKind::Sum, t.castLike(wide, x), dims);
    Tensor mean = share(x, count), difference = x - t.spread(mean, x, dims);
    return {mean, share(difference * difference, count)};
  }
  Tensor callAll(Call &c, const CallInputs &inputs) const override {
    Tensor x = inputs.values[0], mask = inputs.mask();
    if (!c.hasSampleAxes(x, axis))
      return x;
    Tensors &t = c.t;
    if (mask && t.shape(mask) != t.shape(x).drop_back()) {
      c.refuse("its mask " + sampleText(mask) +
               " does not fit samples of shape " + sampleText(x) +
               "; it must have one dimension less");
      return x;
    }
    x = t.wide(x);
    int64_t dim = t.dims(x, axis)[0];
    std::vector<int64_t> shape = {t.size(x, dim)};
    Tensor gamma = factor(c, shape), beta = summand(c, shape);
    Tensor mean = t.wide(c.state("moving_mean", shape, meanInitializer));
    Tensor variance =
        t.wide(c.state("moving_variance", shape, varianceInitializer));
    Renormalization::Statistics further;
    if (renorm.isUsed)
      further =
          renorm.statistics(c, shape, meanInitializer, varianceInitializer);
    if (c.isTraining()) {
      SmallVector<int64_t> others;
      for (int64_t i = 0; i < t.rank(x); ++i)
        if (i != dim)
          others.push_back(i);
      auto [batchMean, batchVariance] = moments(t, x, mask, others);
      c.update("moving_mean", movingAverage(mean, batchMean, momentum));
      if (renorm.isUsed) {
        std::tie(gamma, beta) = renorm.corrected(
            t, further, batchMean, batchVariance, epsilon, gamma, beta);
        renorm.update(c, further, batchMean, batchVariance, momentum, epsilon);
      } else {
        c.update("moving_variance",
                 movingAverage(variance, batchVariance, momentum));
      }
      mean = batchMean;
      variance = batchVariance;
    }
    return c.cast(normalized(t, x, mean, variance, gamma, beta, asIs,
                             [&](Tensor v) { return t.along(v, x, dim); }));
  }
};

/// Normalizes each sample by its mean and variance along `axis`.
/// keras.layers.LayerNormalization
class LayerNormalization : public Normalization {
  std::vector<int64_t> axis = {-1};
  bool rmsScaling = false; ///< x / sqrt(variance) * gamma, without the mean

  void options(Options &o) override {
    o.axes("axis", axis);
    switches(o);
    rules(o);
    o.flag("rms_scaling", rmsScaling);
    scale |= rmsScaling;
    center &= !rmsScaling;
  }
  Facts facts() const override {
    return {.castsInputs = false, .passesMask = true};
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasSampleAxes(x, axis))
      return x;
    Tensors &t = c.t;
    x = t.wide(x);
    SmallVector<int64_t> dims = t.dims(x, axis);
    std::vector<int64_t> shape;
    for (int64_t dim : dims)
      shape.push_back(t.size(x, dim));
    auto whole = [&](Tensor v) -> Tensor {
      return v ? t.make<BroadcastOp>(v, t.shape(x), dims) : v;
    };
    Tensor gamma = whole(factor(c, shape)), beta = whole(summand(c, shape));
    Tensor mean = t.mean(x, dims), variance = t.variance(x, mean, dims);
    if (rmsScaling) {
      Tensor inverse = rsqrt(variance + epsilon);
      return c.cast(x * t.spread(inverse, x, dims) * gamma);
    }
    auto spread = [&](Tensor v) { return t.spread(v, x, dims); };
    return c.cast(normalized(t, x, mean, variance, gamma, beta, spread, asIs));
  }
};

/// Normalizes groups of features of each sample by their mean and variance;
/// with -1 groups each feature is a group. keras.layers.GroupNormalization
class GroupNormalization : public Normalization {
  int64_t groups = 32, axis = -1;

  void options(Options &o) override {
    o.integer("groups", groups, kAnyNumber);
    o.check(groups > 0 || groups == -1, "\"groups\" is " +
                                            std::to_string(groups) +
                                            "; it must be positive, or -1");
    o.integer("axis", axis, kAnyNumber);
    switches(o);
    rules(o);
  }
  Facts facts() const override {
    return {.castsInputs = false, .passesMask = true};
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasSampleAxes(x, axis))
      return x;
    Tensors &t = c.t;
    int64_t dim = t.dims(x, axis)[0], size = t.size(x, dim);
    int64_t count = groups == -1 ? size : groups;
    if (dim == 0 || size % count != 0) {
      c.refuse("the " + std::to_string(size) +
               " features must be a multiple of \"groups\", " +
               std::to_string(count));
      return x;
    }
    SmallVector<int64_t> shape(t.shape(x)), others;
    shape[dim] = size / count;
    shape.insert(shape.begin() + dim, count);
    for (int64_t i = 1; i < int64_t(shape.size()); ++i)
      if (i != dim)
        others.push_back(i);
    Tensor grouped = t.reshape(t.wide(x), shape);
    auto whole = [&](Tensor v) -> Tensor {
      return v ? t.make<BroadcastOp>(t.reshape(v, {count, size / count}), shape,
                                     ArrayRef<int64_t>{dim, dim + 1})
               : v;
    };
    Tensor gamma = whole(factor(c, {size}));
    Tensor beta = whole(summand(c, {size}));
    Tensor mean = t.mean(grouped, others);
    Tensor variance = t.variance(grouped, mean, others);
    auto spread = [&](Tensor v) { return t.spread(v, grouped, others); };
    Tensor out =
        normalized(t, grouped, mean, variance, gamma, beta, spread, asIs);
    return c.cast(t.reshape(out, t.shape(x)));
  }
};

/// x / sqrt(mean(x^2) + epsilon) * scale, along trailing dimensions; Keras
/// fails for other axes.  keras.layers.RMSNormalization
class RMSNormalization : public Layer {
  std::vector<int64_t> axis = {-1};
  double epsilon = 1e-6;
  InitializerPtr initializer = ones();

  void options(Options &o) override {
    o.axes("axis", axis);
    o.number("epsilon", epsilon, kAnyNumber);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasSampleAxes(x, axis))
      return x;
    Tensors &t = c.t;
    SmallVector<int64_t> dims = t.dims(x, axis);
    if (dims[0] + int64_t(dims.size()) != t.rank(x)) {
      c.refuse("\"axis\" " + shapeText(axis) +
               " must be the last dimensions; permute the tensor before");
      return x;
    }
    std::vector<int64_t> shape;
    for (int64_t dim : dims)
      shape.push_back(t.size(x, dim));
    Tensor factor = t.wide(c.weight("scale", shape, {initializer}));
    x = t.wide(x);
    Tensor root = rsqrt(t.mean(x * x, dims) + epsilon);
    return c.cast(x * t.spread(root, x, dims) *
                  t.make<BroadcastOp>(factor, t.shape(x), dims));
  }
};

/// x divided by its 2-norm along `axis`.  keras.layers.UnitNormalization
class UnitNormalization : public Layer {
  std::vector<int64_t> axis = {-1};

  void options(Options &o) override { o.axes("axis", axis); }
  Facts facts() const override { return {.passesMask = true}; }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasSampleAxes(x, axis))
      return x;
    Tensors &t = c.t;
    SmallVector<int64_t> dims = t.dims(x, axis);
    Tensor root = rsqrt(t.reduce(ReduceKind::Sum, x * x, dims));
    return x * t.spread(min(root, 1e12), x, dims);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_NORMALIZATIONS_H
