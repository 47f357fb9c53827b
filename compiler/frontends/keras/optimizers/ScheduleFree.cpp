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
  Value g = in.gradient, step = t.castLike(t.add(in.iteration, 1), g);
  Value rate = in.rate;
  Value share1 = t.splat(beta1, step), share2 = t.splat(beta2, step);
  Value rest1 = t.sub(1.0, share1), rest2 = t.sub(1.0, share2);
  if (warmupSteps > 0)
    rate = t.mul(rate, t.min(t.div(step, double(warmupSteps)), 1));
  auto times = [&](Value scalar, Value x) {
    return t.mul(t.fill(scalar, x), x);
  };
  // The momentum starts as the weight before its first decay.
  Value isFirst = t.compare(CompareKind::EQ, in.iteration, 0);
  Value old = t.select(t.fill(isFirst, in.before), in.before, in.slots[0]);
  Value velocity =
      t.add(in.slots[1], times(rest2, t.sub(t.mul(g, g), in.slots[1])));
  Value correction = t.sub(1.0, t.make<PowOp>(share2, step));
  Value root = t.add(
      t.make<SqrtOp>(t.div(velocity, t.fill(correction, velocity))), epsilon);
  Value momentum = t.sub(old, t.div(times(rate, g), root));
  Value weight = t.div(t.splat(1, step), step);
  Value average =
      t.div(t.sub(in.weight, times(rest1, old)), t.fill(share1, old));
  average = t.add(times(t.sub(1.0, weight), average), times(weight, momentum));
  return {t.add(times(rest1, momentum), times(share1, average)),
          {momentum, velocity}};
}
