//===- Wrappers.cpp - optimizers made of others ---------------------------===//

#include "weft/compiler/frontends/keras/optimizers/Wrappers.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// Options that stand in old files, and belong to the optimizer inside.
static void refuseBaseOptions(Options &o) {
  for (const char *name : {"weight_decay", "clipnorm", "global_clipnorm",
                           "clipvalue", "ema_overwrite_frequency",
                           "loss_scale_factor", "gradient_accumulation_steps"})
    o.refused(name, "set it on the optimizer inside");
  o.refused("use_ema", "set it on the optimizer inside", "false");
  o.refused("ema_momentum", "set it on the optimizer inside", "0.99");
}

void LossScaleOptimizer::options(Options &o) {
  o.text("name", name);
  o.object("inner_optimizer", inner, optimizerTable());
  o.check(inner != nullptr,
          "\"inner_optimizer\" is missing; give the optimizer whose loss is "
          "scaled");
  o.number("initial_scale", initialScale, kAnyNumber);
  o.check(std::isfinite(float(initialScale)) && initialScale > 0,
          "\"initial_scale\" must be above 0 and finite in float32");
  o.integer("dynamic_growth_steps", growthSteps, kPositive);
  refuseBaseOptions(o);
  o.refused("dynamic", "a scale that stays", "true");
}

/// Places of its own variables.
enum : unsigned { kCounter = 2, kScale = 3, kOwn = 4 };

std::vector<OptimizerVariable>
LossScaleOptimizer::variables(ArrayRef<WeightFacts> weights, bool) const {
  std::vector<OptimizerVariable> out = {
      {path() + "/iteration", {}, "int32"},
      {path() + "/learning_rate"},
      {path() + "/step_counter", {}, "int32"},
      {path() + "/dynamic_scale", {}, "float32", double(float(initialScale))}};
  llvm::append_range(out, inner->variables(weights, true));
  return out;
}

std::optional<unsigned> LossScaleOptimizer::scaleVariable() const {
  return kScale;
}

std::vector<OptimizerPart>
LossScaleOptimizer::parts(ArrayRef<WeightFacts> weights, bool) const {
  return {{"inner_optimizer", inner, weights.vec(), true, kOwn}};
}

/// i1: are all elements of all tensors finite?
static Value areFinite(Tensors &t, ArrayRef<Value> tensors) {
  Value out =
      t.splat(1, RankedTensorType::get({}, t.builder.getIntegerType(1)));
  for (Value tensor : tensors) {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < t.rank(tensor); ++dim)
      dims.push_back(dim);
    Value isGood = t.compare(CompareKind::LT, t.make<AbsOp>(tensor), INFINITY);
    out = t.make<AndOp>(out, t.reduce(ReduceKind::And, isGood, dims));
  }
  return out;
}

void LossScaleOptimizer::updateScale(Tensors &t, Value isFinite, Value &counter,
                                     Value &scale) const {
  Value isLong = t.compare(CompareKind::EQ, counter, double(growthSteps - 1));
  Value zero = t.splat(0, counter);
  counter = t.select(isFinite, t.select(isLong, zero, t.add(counter, 1)), zero);
  scale = t.select(isFinite, t.select(isLong, t.mul(scale, 2), scale),
                   t.mul(scale, 0.5));
}

void LossScaleOptimizer::step(OptimizerStep &step) const {
  Tensors t = step.at(path());
  Value isFinite = areFinite(t, step.gradients);
  auto own = MutableArrayRef(step.variables).take_front(kOwn);
  ArrayRef<Value> ofInner = ArrayRef(step.variables).drop_front(kOwn);
  OptimizerStep taken{step.builder, step.facts, step.gradients, step.weights,
                      llvm::to_vector(ofInner)};
  taken.isScaled = true;
  for (Value &gradient : taken.gradients)
    gradient =
        t.div(gradient, t.castLike(t.fill(own[kScale], gradient), gradient));
  inner->step(taken);
  auto keep = [&](MutableArrayRef<Value> old, ArrayRef<Value> made) {
    for (auto [before, after] : llvm::zip_equal(old, made))
      if (before != after)
        before = t.select(t.fill(isFinite, after), after, before);
  };
  updateScale(t, isFinite, own[kCounter], own[kScale]);
  keep(step.weights, taken.weights);
  keep(MutableArrayRef(step.variables).drop_front(kOwn), taken.variables);
}
