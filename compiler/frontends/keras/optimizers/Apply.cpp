//===- Apply.cpp - one step of an optimizer -------------------------------===//

#include "weft/compiler/frontends/keras/optimizers/Apply.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void Optimizer::options(Options &o) {
  o.text("name", name);
  o.numberOr("learning_rate", learningRate, schedule, scheduleTable());
  // A negative rate is valid, as in Keras: it increases the loss.
  o.check(std::isfinite(float(learningRate)),
          "\"learning_rate\" is " + std::to_string(float(learningRate)) +
              " in float32; give a finite number");
  o.maybeNumber("weight_decay", weightDecay, kAnyNumber);
  o.maybeNumber("clipnorm", clipNorm, kAnyNumber);
  o.maybeNumber("clipvalue", clipValue, kAnyNumber);
  o.maybeNumber("global_clipnorm", globalClipNorm, kAnyNumber);
  o.check(clipNorm.has_value() + globalClipNorm.has_value() +
                  clipValue.has_value() <=
              1,
          "only one of \"clipnorm\", \"clipvalue\" and \"global_clipnorm\" can "
          "be set; leave the others at null");
  o.flag("use_ema", useEma);
  o.number("ema_momentum", emaMomentum, kShare);
  o.maybeInteger("ema_overwrite_frequency", emaOverwriteFrequency, kPositive);
  o.maybeNumber("loss_scale_factor", lossScaleFactor, kAnyNumber);
  o.check(!lossScaleFactor || *lossScaleFactor != 0,
          "\"loss_scale_factor\" must not be 0");
  o.maybeInteger("gradient_accumulation_steps", accumulationSteps, kPositive);
  o.check(!accumulationSteps || *accumulationSteps > 1,
          "\"gradient_accumulation_steps\" must be above 1; leave it at null");
  ownOptions(o);
}

Tensor weft::keras::rateOf(Tensors &t, const Optimizer &optimizer,
                           Tensor iteration, Tensor variable) {
  return optimizer.schedule ? optimizer.schedule->rate(t, t.toFloat(iteration))
                            : variable;
}

/// gradient * limit / max(norm, limit).
static Tensor scaled(Tensor gradient, Tensor norm, double limit) {
  Tensor largest = max(norm, limit);
  return gradient * limit / largest;
}

void weft::keras::clip(Tensors &t, const Optimizer &optimizer,
                       llvm::MutableArrayRef<Value> gradients) {
  auto isOn = [](std::optional<double> limit) { return limit && *limit > 0; };
  auto squares = [&](Tensor x) { return t.sumAll(x * x); };
  if (isOn(optimizer.clipNorm)) {
    for (Value &gradient : gradients)
      gradient =
          scaled(t(gradient), sqrt(squares(t(gradient))), *optimizer.clipNorm);
  } else if (isOn(optimizer.globalClipNorm)) {
    Tensor total;
    for (Value gradient : gradients) {
      Tensor part = t.wide(squares(t(gradient)));
      total = total ? total + part : part;
    }
    double limit = *optimizer.globalClipNorm;
    Tensor norm = total ? sqrt(total) : Tensor();
    for (Value &gradient : gradients) {
      Tensor scale = min(1 / norm, 1 / limit) * limit;
      gradient = t(gradient) * t.castLike(scale, gradient);
    }
  } else if (isOn(optimizer.clipValue)) {
    double limit = *optimizer.clipValue;
    for (Value &gradient : gradients)
      gradient = min(max(t(gradient), -limit), limit);
  }
}

WeightUpdate weft::keras::apply(Tensors &t, const Optimizer &optimizer,
                                UpdateInputs in) {
  in.before = in.weight;
  if (std::optional<double> decay = optimizer.decayOf(in.facts))
    in.weight = in.weight - in.weight * *decay * in.rate;
  return optimizer.update(t, in);
}

Tensor weft::keras::averaged(Tensors &t, const Optimizer &optimizer,
                             Tensor iteration, Tensor average, Tensor weight) {
  Tensor isLater = t.castLike(iteration != 0, weight);
  Tensor momentum = t.fill(isLater * optimizer.emaMomentum, weight);
  return momentum * average + (1.0 - momentum) * weight;
}

Tensor weft::keras::isEvery(Tensors &t, Tensor iteration, int64_t period) {
  Tensor next = iteration + 1.0;
  return next % double(period) == 0;
}
