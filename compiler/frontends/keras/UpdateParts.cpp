//===- UpdateParts.cpp - optimizers ---------------------------------------===//
//
// Each function is update_step of the class of the same name in
// keras.optimizers (3.15.1), operation by operation.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/keras/StepParts.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static WeightUpdate updateSgd(Tensors &t, const Optimizer &o, Value weight,
                              Value gradient, llvm::ArrayRef<Value> slots,
                              Value rate) {
  Value step = t.mul(gradient, t.fill(rate, gradient));
  if (o.momentum == 0)
    return {t.sub(weight, step), {}};
  Value momentum = t.sub(t.mul(slots[0], o.momentum), step);
  Value change =
      o.nesterov ? t.sub(t.mul(momentum, o.momentum), step) : momentum;
  return {t.add(weight, change), {momentum}};
}

static WeightUpdate updateRmsprop(Tensors &t, const Optimizer &o, Value weight,
                                  Value gradient, llvm::ArrayRef<Value> slots,
                                  Value rate) {
  WeightUpdate out;
  Value velocity = t.add(t.mul(slots[0], o.rho),
                         t.mul(t.mul(gradient, gradient), 1 - o.rho));
  out.slots.push_back(velocity);
  Value denominator = velocity, average;
  if (o.centered) {
    average = t.add(t.mul(slots.back(), o.rho), t.mul(gradient, 1 - o.rho));
    denominator = t.sub(velocity, t.mul(average, average));
  }
  denominator = t.add(denominator, o.epsilon);
  Value increment = t.div(t.mul(t.fill(rate, gradient), gradient),
                          t.make<SqrtOp>(denominator));
  if (o.momentum > 0) {
    increment = t.add(t.mul(slots[1], o.momentum), increment);
    out.slots.push_back(increment);
  }
  if (o.centered)
    out.slots.push_back(average);
  out.weight = t.sub(weight, increment);
  return out;
}

static WeightUpdate updateAdam(Tensors &t, const Optimizer &o, Value weight,
                               Value gradient, llvm::ArrayRef<Value> slots,
                               Value iteration, Value rate) {
  Value step = t.toFloat(t.add(iteration, 1.0));
  Value power1 = t.make<PowOp>(t.splat(o.beta1, step), step);
  Value power2 = t.make<PowOp>(t.splat(o.beta2, step), step);
  Value alpha = t.div(t.mul(rate, t.make<SqrtOp>(t.sub(1.0, power2))),
                      t.sub(1.0, power1));
  Value m = t.add(slots[0], t.mul(t.sub(gradient, slots[0]), 1 - o.beta1));
  Value square = t.mul(gradient, gradient);
  Value v = t.add(slots[1], t.mul(t.sub(square, slots[1]), 1 - o.beta2));
  WeightUpdate out{nullptr, {m, v}};
  if (o.amsgrad) {
    v = t.make<MaxOp>(slots[2], v);
    out.slots.push_back(v);
  }
  Value change =
      t.div(t.mul(m, t.fill(alpha, m)), t.add(t.make<SqrtOp>(v), o.epsilon));
  out.weight = t.sub(weight, change);
  return out;
}

WeightUpdate weft::keras::buildUpdate(Tensors &t, const Optimizer &optimizer,
                                      Value weight, Value gradient,
                                      llvm::ArrayRef<Value> slots,
                                      Value iteration, Value learningRate) {
  switch (optimizer.kind) {
  case OptimizerKind::SGD:
    return updateSgd(t, optimizer, weight, gradient, slots, learningRate);
  case OptimizerKind::RMSprop:
    return updateRmsprop(t, optimizer, weight, gradient, slots, learningRate);
  case OptimizerKind::Adam:
    return updateAdam(t, optimizer, weight, gradient, slots, iteration,
                      learningRate);
  }
  return {};
}
