//===- Renormalization.h - renorm of BatchNormalization ----------*- C++ -*-===//
//
// The option `renorm` of keras.layers.BatchNormalization corrects the batch's
// statistics in training towards the moving ones, so that training and
// inference normalize alike. With r and d, which have no derivative,
//
//   r = clip(stddev of batch / renorm_stddev, rmin, rmax)
//   d = clip((mean of batch - renorm_mean) / renorm_stddev, -dmax, dmax)
//
// the normalized x becomes x * r + d, before gamma and beta are applied.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RENORMALIZATION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RENORMALIZATION_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// A moving average after a batch.
inline Tensor movingAverage(Tensor old, Tensor now, double momentum) {
  return old * momentum + now * (1.0 - momentum);
}

class Renormalization {
public:
  bool isUsed = false;

  void options(Options &o) {
    o.flag("renorm", isUsed);
    o.argument("renorm_clipping", clipping, "null");
    o.number("renorm_momentum", momentum, kAnyNumber);
    o.check(!isUsed || isClipping(), "\"renorm_clipping\" is " +
                                         clipping.written +
                                         "; it may hold rmax, rmin and dmax, "
                                         "with rmin up to rmax and dmax not "
                                         "below 0");
  }
  /// The statistics that the layer keeps besides its moving mean and variance.
  struct Statistics {
    Tensor stddev; ///< for inference
    Tensor mean, trainedStddev;
  };
  Statistics statistics(Call &c, const std::vector<int64_t> &shape,
                        const InitializerPtr &ofMean,
                        const InitializerPtr &ofVariance) const {
    auto of = [&](const char *name, const InitializerPtr &initializer) {
      c.construct(initializer);
      return c.t.wide(c.state(name, shape, initializer));
    };
    Statistics out;
    out.stddev = of("moving_stddev", squareRootOf(ofVariance));
    out.mean = of("renorm_mean", cloneOf(ofMean));
    out.trainedStddev = of("renorm_stddev", squareRootOf(ofVariance));
    return out;
  }
  /// Gamma and beta that include the correction, from the statistics of a
  /// batch. Either may be null.
  std::pair<Tensor, Tensor> corrected(Tensors &t, const Statistics &of,
                                      Tensor mean, Tensor variance,
                                      double epsilon, Tensor gamma,
                                      Tensor beta) const {
    Tensor stddev = sqrt(variance + epsilon);
    Tensor least = sqrt(stddev.number(epsilon));
    Tensor divisor = max(of.trainedStddev, least);
    Tensor r = stddev / divisor, d = (mean - of.mean) / divisor;
    if (auto to = bound("rmin"))
      r = max(r, *to);
    if (auto to = bound("rmax"))
      r = min(r, *to);
    if (auto to = bound("dmax"))
      d = t.clamp(d, -*to, *to);
    r = t.stopGradient(r);
    d = t.stopGradient(d);
    if (gamma) {
      d = d * gamma;
      r = r * gamma;
    }
    return {r, beta ? d + beta : d};
  }
  /// Updates the statistics by those of a batch. `average` is the momentum of
  /// the statistics for inference.
  void update(Call &c, const Statistics &of, Tensor mean, Tensor variance,
              double average, double epsilon) const {
    Tensor stddev = sqrt(variance + epsilon);
    c.update("renorm_mean", movingAverage(of.mean, mean, momentum));
    c.update("renorm_stddev",
             movingAverage(of.trainedStddev, stddev, momentum));
    Tensor next = movingAverage(of.stddev, stddev, average);
    c.update("moving_stddev", next);
    c.update("moving_variance", max(next * next + -epsilon, 0));
  }

private:
  /// The entry of renorm_clipping with this name, if it is given.
  std::optional<double> bound(const char *name) const {
    const Argument *found = clipping.item(name);
    if (!found || !found->isGiven())
      return std::nullopt;
    return found->kind == Argument::Kind::Real ? found->real
                                               : double(found->integer);
  }
  /// Whether the option is null or has bounds that fit each other.
  bool isClipping() const {
    bool isGood =
        !clipping.isGiven() || clipping.kind == Argument::Kind::Object;
    for (const std::string &key : clipping.keys) {
      Argument::Kind kind = clipping.item(key)->kind;
      isGood &= key == "rmax" || key == "rmin" || key == "dmax";
      isGood &= kind == Argument::Kind::Nothing ||
                kind == Argument::Kind::Real || kind == Argument::Kind::Integer;
    }
    std::optional<double> most = bound("rmax"), least = bound("rmin");
    return isGood && !(most && least && *most < *least) &&
           bound("dmax").value_or(0) >= 0;
  }

  double momentum = 0.99;
  Argument clipping; ///< null, or an object of numbers
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RENORMALIZATION_H
