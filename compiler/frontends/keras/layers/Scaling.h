//===- Scaling.h - keras.layers.Normalization --------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SCALING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SCALING_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// (x - mean) / max(sqrt(variance), 1e-7), or its inverse, with mean and
/// variance from the config or from adapt(), which stores them in the model's
/// variables. keras.layers.Normalization
class Scaling : public Layer {
  std::vector<int64_t> axis = {-1};
  std::vector<double> mean, variance;
  bool invert = false;

  void options(Options &o) override {
    o.shape("axis", axis);
    o.flag("invert", invert);
    o.numbers("mean", mean);
    o.numbers("variance", variance);
    o.check(mean.size() == variance.size(),
            "has " + std::to_string(mean.size()) + " means and " +
                std::to_string(variance.size()) + " variances");
  }
  Facts facts() const override { return {.takesIntegers = true}; }

  /// Broadcasts the numbers, which have the kept dimensions, to the shape of x.
  Tensor alongKept(Tensors &t, Tensor numbers, Tensor x) const {
    return t.rank(x) == t.rank(numbers)
               ? numbers
               : t.make<BroadcastOp>(numbers, t.shape(x), t.dims(x, axis));
  }
  Tensor call(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    x = t.toFloat(x);
    if (!c.hasSampleAxes(x, axis))
      return x;
    std::vector<int64_t> kept;
    int64_t count = 1;
    for (int64_t dim : t.dims(x, axis)) {
      kept.push_back(t.size(x, dim));
      count *= kept.back();
    }
    Tensor middle, spread;
    if (mean.empty()) {
      middle = alongKept(t, c.state("mean", kept, zeros()), x);
      spread = alongKept(t, c.state("variance", kept, ones()), x);
      c.counter("count");
    } else if (mean.size() == 1) {
      middle = t.splat(mean[0], x);
      spread = t.splat(variance[0], x);
    } else if (int64_t(mean.size()) == count && kept.size() == 1) {
      auto constant = [&](const std::vector<double> &numbers) {
        SmallVector<float> data(numbers.begin(), numbers.end());
        return alongKept(t, t.constant(data, kept), x);
      };
      middle = constant(mean);
      spread = constant(variance);
    } else {
      c.refuse("has " + std::to_string(mean.size()) +
               " means for axes of shape " + shapeText(kept));
      return x;
    }
    Tensor deviation = max(sqrt(spread), kEpsilon);
    return invert ? middle + x * deviation : (x - middle) / deviation;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_SCALING_H
