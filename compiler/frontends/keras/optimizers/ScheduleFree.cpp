//===- ScheduleFree.cpp - averages in the place of a schedule -------------===//

#include "weft/compiler/frontends/keras/optimizers/ScheduleFree.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void ScheduleFreeAdamW::ownOptions(Options &o) {
  o.number("beta_1", beta1, kAnyNumber);
  o.check(beta1 != 0, "\"beta_1\" must not be 0");
  o.number("beta_2", beta2, kAnyNumber);
  o.number("epsilon", epsilon, kAnyNumber);
  o.integer("warmup_steps", warmupSteps, kAnyNumber);
}

WeightUpdate ScheduleFreeAdamW::update(Tensors &t,
                                       const UpdateInputs &in) const {
  Tensor g = in.gradient, step = t.castLike(in.iteration + 1, g);
  Tensor rate = in.rate;
  Tensor share1 = t.splat(beta1, step), share2 = t.splat(beta2, step);
  Tensor rest1 = 1.0 - share1, rest2 = 1.0 - share2;
  if (warmupSteps > 0)
    rate = rate * min(step / double(warmupSteps), 1);
  auto times = [&](Tensor scalar, Tensor x) { return scalar * x; };
  // The momentum starts as the weight before its first decay.
  Tensor isFirst = in.iteration == 0;
  Tensor old = select(t.fill(isFirst, in.before), in.before, in.slots[0]);
  Tensor velocity = in.slots[1] + times(rest2, g * g - in.slots[1]);
  Tensor correction = 1.0 - pow(share2, step);
  Tensor root = sqrt(velocity / correction) + epsilon;
  Tensor momentum = old - times(rate, g) / root;
  Tensor weight = 1 / step;
  Tensor average = (in.weight - times(rest1, old)) / share1;
  average = times(1.0 - weight, average) + times(weight, momentum);
  return {times(rest1, momentum) + times(share1, average),
          {momentum, velocity}};
}
