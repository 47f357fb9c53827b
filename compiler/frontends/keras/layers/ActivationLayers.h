//===- ActivationLayers.h - activations as layers ----------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ACTIVATIONLAYERS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ACTIVATIONLAYERS_H

#include "weft/compiler/frontends/keras/activations/Formulas.h"
#include "weft/compiler/frontends/keras/layers/ActivationOption.h"
#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// activation(x).  keras.layers.Activation
class ActivationLayer : public Layer {
  ActivationOption activation{"activation"};
  RegularizerPtr outputRegularizer;

  void options(Options &o) override {
    activation.read(o);
    o.object("activity_regularizer", outputRegularizer, regularizerTable());
  }
  Facts facts() const override {
    return {.passesMask = true, .activityRegularizer = outputRegularizer};
  }
  Tensor call(Call &c, Tensor x) const override {
    return activation.apply(c, x);
  }
};

/// max(x, 0), clipped at `max_value`; below `threshold` a line of slope
/// `negative_slope` replaces x. keras.layers.ReLU
class ReLU : public Layer {
  std::optional<double> maxValue;
  double negativeSlope = 0, threshold = 0;

  void options(Options &o) override {
    o.maybeNumber("max_value", maxValue, kNotNegative);
    o.number("negative_slope", negativeSlope, kNotNegative);
    o.number("threshold", threshold, kNotNegative);
  }
  Facts facts() const override { return {.passesMask = true}; }
  /// Computes keras.activations.relu, operation by operation.
  Tensor call(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    bool isShifted = threshold != 0;
    if (negativeSlope != 0 && !maxValue && !isShifted)
      return leakyRelu(t, x, negativeSlope);
    Tensor out;
    if (isShifted)
      out = select(x > threshold, x, 0);
    else if (maxValue == 6)
      out = t.clamp(x, 0, 6);
    else
      out = relu(x);
    if (maxValue && (isShifted || maxValue != 6))
      out = min(max(out, 0), *maxValue);
    if (negativeSlope == 0)
      return out;
    Tensor below = -x;
    if (isShifted)
      below = below + threshold;
    return out - relu(below) * negativeSlope;
  }
};

/// x if it is not negative, else negative_slope * x.  keras.layers.LeakyReLU
class LeakyReLU : public Layer {
  double negativeSlope = 0.3;

  void options(Options &o) override {
    o.number("negative_slope", negativeSlope, kAnyNumber);
  }
  Facts facts() const override { return {.passesMask = true}; }
  Tensor call(Call &c, Tensor x) const override {
    return leakyRelu(c.t, x, negativeSlope);
  }
};

/// x if it is positive, else alpha * (e^x - 1).  keras.layers.ELU
class ELU : public Layer {
  double alpha = 1;

  void options(Options &o) override { o.number("alpha", alpha, kAnyNumber); }
  Facts facts() const override { return {.passesMask = true}; }
  Tensor call(Call &c, Tensor x) const override { return elu(c.t, x, alpha); }
};

/// max(x, 0) - alpha * max(-x, 0) with a weight alpha, shared along
/// `shared_axes`.  keras.layers.PReLU
class PReLU : public Layer {
  Weight alpha{zeros()};
  std::vector<int64_t> sharedAxes;

  void options(Options &o) override {
    weightOptions(o, {{"alpha", alpha}});
    o.axes("shared_axes", sharedAxes);
  }
  Facts facts() const override { return {.passesMask = true}; }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasSampleAxes(x, sharedAxes))
      return x;
    std::vector<int64_t> shape = c.t.shape(x).drop_front().vec();
    for (int64_t axis : c.t.dims(x, sharedAxes))
      shape[axis - 1] = 1;
    Tensor slope = c.weight("alpha", shape, alpha);
    return relu(x) - c.t.stretch(slope, c.t.shape(x)) * relu(-x);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ACTIVATIONLAYERS_H
