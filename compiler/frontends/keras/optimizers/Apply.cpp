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
  o.maybeNumber("global_clipnorm", globalClipNorm, kAnyNumber);
  o.maybeNumber("clipvalue", clipValue, kAnyNumber);
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

Value weft::keras::rateOf(Tensors &t, const Optimizer &optimizer,
                          Value iteration, Value variable) {
  return optimizer.schedule ? optimizer.schedule->rate(t, t.toFloat(iteration))
                            : variable;
}

/// gradient * limit / max(norm, limit).
static Value scaled(Tensors &t, Value gradient, Value norm, double limit) {
  Value largest = t.max(norm, limit);
  return t.div(t.mul(gradient, limit), t.fill(largest, gradient));
}

void weft::keras::clip(Tensors &t, const Optimizer &optimizer,
                       llvm::MutableArrayRef<Value> gradients) {
  auto isOn = [](std::optional<double> limit) { return limit && *limit > 0; };
  auto squares = [&](Value x) { return t.sumAll(t.mul(x, x)); };
  if (isOn(optimizer.clipNorm)) {
    for (Value &gradient : gradients)
      gradient = scaled(t, gradient, t.make<SqrtOp>(squares(gradient)),
                        *optimizer.clipNorm);
  } else if (isOn(optimizer.globalClipNorm)) {
    Value total;
    for (Value gradient : gradients) {
      Value part = t.wide(squares(gradient));
      total = total ? t.add(total, part) : part;
    }
    double limit = *optimizer.globalClipNorm;
    Value norm = total ? t.make<SqrtOp>(total) : Value();
    for (Value &gradient : gradients) {
      // clip_norm * min(1 / norm, 1 / clip_norm)
      Value scale =
          t.mul(t.min(t.div(t.splat(1, norm), norm), 1 / limit), limit);
      gradient = t.mul(gradient, t.fill(t.castLike(scale, gradient), gradient));
    }
  } else if (isOn(optimizer.clipValue)) {
    double limit = *optimizer.clipValue;
    for (Value &gradient : gradients)
      gradient = t.min(t.max(gradient, -limit), limit);
  }
}

WeightUpdate weft::keras::apply(Tensors &t, const Optimizer &optimizer,
                                UpdateInputs in) {
  in.before = in.weight;
  if (std::optional<double> decay = optimizer.decayOf(in.facts))
    in.weight = t.sub(
        in.weight, t.mul(t.mul(in.weight, *decay), t.fill(in.rate, in.weight)));
  return optimizer.update(t, in);
}

Value weft::keras::averaged(Tensors &t, const Optimizer &optimizer,
                            Value iteration, Value average, Value weight) {
  Value isLater = t.castLike(t.compare(CompareKind::NE, iteration, 0), weight);
  Value momentum = t.fill(t.mul(isLater, optimizer.emaMomentum), weight);
  return t.add(t.mul(momentum, average), t.mul(t.sub(1.0, momentum), weight));
}

Value weft::keras::isEvery(Tensors &t, Value iteration, int64_t period) {
  Value next = t.add(iteration, 1.0);
  return t.compare(CompareKind::EQ,
                   t.make<RemOp>(next, t.splat(double(period), next)), 0);
}
