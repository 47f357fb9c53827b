//===- Step.cpp - variables and steps of one optimizer --------------------===//

#include "weft/compiler/frontends/keras/optimizers/Apply.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static std::string flattened(std::string path) {
  for (char &c : path)
    if (c == '/')
      c = '_';
  return path;
}

OptimizerVariable Optimizer::slotOf(const SlotKind &slot,
                                    const WeightFacts &facts) const {
  return {path() + "/" + flattened(facts.path) + "_" + slot.name,
          facts.shape.vec(), facts.dtype, slot.first};
}

/// The type of scalars: that of the first weight, as in Keras.
static std::string scalarType(ArrayRef<WeightFacts> weights) {
  return weights.empty() ? "float32" : weights.front().dtype;
}

std::vector<OptimizerVariable>
Optimizer::variables(ArrayRef<WeightFacts> weights, bool isScaled) const {
  std::vector<OptimizerVariable> out;
  out.push_back({path() + "/iteration", {}, "int32"});
  if (!schedule) {
    out.push_back({path() + "/learning_rate",
                   {},
                   "float32",
                   double(float(learningRate))});
    out.back().rateOf = path();
  }
  auto addFor = [&](const std::vector<SlotKind> &together, SlotUse use) {
    for (auto [i, facts] : llvm::enumerate(weights))
      for (const SlotKind &slot : together)
        if (use != SlotUse::Slot || keeps(slot, facts)) {
          out.push_back(use == SlotUse::Slot ? slotOf(slot, facts)
                                             : Optimizer::slotOf(slot, facts));
          if (isScaled && out.back().isPlain) {
            out.pop_back();
            continue;
          }
          out.back().use = use;
          out.back().weight = int(i);
        }
  };
  if (useEma)
    addFor({{"average"}}, SlotUse::Average);
  if (accumulationSteps)
    addFor({{"gradient_accumulator"}}, SlotUse::Gradients);
  // Slots of one list are adjacent for each weight.
  for (const std::vector<SlotKind> &together : slots())
    addFor(together, SlotUse::Slot);
  if (isScaled)
    return out;
  for (const SlotKind &scalar : scalars())
    out.push_back(
        {"variable", {}, scalarType(weights), scalar.first, SlotUse::Scalar});
  return out;
}

std::vector<Tensor> Optimizer::newScalars(Tensors &, Tensor,
                                          ArrayRef<Tensor>) const {
  return {};
}

WeightUpdate Optimizer::update(Tensors &, const UpdateInputs &in) const {
  return {in.weight, llvm::to_vector<3>(in.slots)};
}

Tensors OptimizerStep::at(const std::string &name) const {
  return Tensors(builder, NameLoc::get(builder.getStringAttr(name)));
}

namespace {

/// Updates the weights and the optimizer's variables in one step.
class Updater {
public:
  Updater(const Optimizer &optimizer [[clang::lifetimebound]],
          OptimizerStep &step [[clang::lifetimebound]])
      : optimizer(optimizer), step(step),
        ofOptimizer(optimizer.variables(step.facts, step.isScaled)),
        t(step.at(optimizer.path())) {}
  void run();

private:
  /// The positions of the variables with this use that belong to the weight;
  /// with -1, of those that belong to no weight.
  SmallVector<unsigned> positions(SlotUse use, int weight) const {
    SmallVector<unsigned> out;
    for (unsigned i = 0; i < ofOptimizer.size(); ++i)
      if (ofOptimizer[i].use == use && ofOptimizer[i].weight == weight)
        out.push_back(i);
    return out;
  }
  SmallVector<Tensor> at(Tensors &here, ArrayRef<unsigned> positions) const {
    SmallVector<Tensor> out;
    for (unsigned position : positions)
      out.push_back(here(step.variables[position]));
    return out;
  }
  void put(ArrayRef<unsigned> positions, ArrayRef<Tensor> made) {
    for (auto [position, value] : llvm::zip_equal(positions, made))
      step.variables[position] =
          keptUnlessUpdate(value, t(step.variables[position]));
  }
  /// The new value; in a step that only accumulates gradients, the old one.
  Tensor keptUnlessUpdate(Tensor made, Tensor old) {
    return isUpdate && !made.is(old) ? select(t.fill(isUpdate, made), made, old)
                                     : made;
  }
  void accumulate();
  void updateWeight(unsigned i);
  void finishWeight(unsigned i);

  const Optimizer &optimizer;
  OptimizerStep &step;
  std::vector<OptimizerVariable> ofOptimizer;
  Tensors t;
  std::vector<Tensor> scalars;
  Tensor iteration, rate;
  Tensor isUpdate; ///< i1; null if each step updates weights
};

} // namespace

/// Accumulates gradients; in a step that updates weights they become means.
void Updater::accumulate() {
  if (!optimizer.accumulationSteps)
    return;
  double steps = double(*optimizer.accumulationSteps);
  isUpdate = isEvery(t, iteration, *optimizer.accumulationSteps);
  for (auto [i, gradient] : llvm::enumerate(step.gradients)) {
    Value &total = step.variables[positions(SlotUse::Gradients, int(i))[0]];
    Tensor added = t(gradient) + t(total), now = t.fill(isUpdate, added);
    total = select(now, 0, added);
    gradient = select(now, added / steps, t(gradient));
  }
  iteration = iteration / steps; // counts updates
}

void Updater::updateWeight(unsigned i) {
  const WeightFacts &facts = step.facts[i];
  Tensors here = step.at(optimizer.path() + "/" + facts.path);
  SmallVector<unsigned> places = positions(SlotUse::Slot, int(i));
  SmallVector<Tensor> old = at(here, places);
  Tensor weight = here(step.weights[i]);
  WeightUpdate update =
      apply(here, optimizer,
            {weight, here(step.gradients[i]), old, here(iteration),
             here.castLike(rate, weight), facts, scalars});
  step.weights[i] = keptUnlessUpdate(update.weight, weight);
  put(places, update.slots);
}

/// Updates a weight's moving average, replaces the weight by it in each step of
/// `ema_overwrite_frequency`, and applies the weight's constraint.
void Updater::finishWeight(unsigned i) {
  Value &weight = step.weights[i];
  if (optimizer.useEma) {
    Value &average = step.variables[positions(SlotUse::Average, int(i))[0]];
    average = averaged(t, optimizer, iteration, t(average), t(weight));
    if (optimizer.emaOverwriteFrequency) {
      Tensor now = isEvery(t, iteration, *optimizer.emaOverwriteFrequency);
      weight = select(t.fill(now, weight), t(average), t(weight));
    }
  }
  if (const WeightFacts &facts = step.facts[i]; facts.constraint) {
    Tensors here = step.at(optimizer.path() + "/" + facts.path);
    weight = facts.constraint->apply(here, here(weight));
  }
}

void Updater::run() {
  if (step.weights.empty())
    return;
  iteration = t(step.variables[0]);
  rate = rateOf(t, optimizer, iteration,
                optimizer.schedule ? Tensor() : t(step.variables[1]));
  if (step.lossScale)
    for (Value &gradient : step.gradients)
      gradient = t(gradient) / *step.lossScale;
  accumulate();
  clip(t, optimizer, step.gradients);
  SmallVector<unsigned> places = positions(SlotUse::Scalar, -1);
  SmallVector<Tensor> old = at(t, places);
  if (step.isScaled) // scalars restart in each step
    for (const SlotKind &scalar : optimizer.scalars())
      old.push_back(
          t.splat(scalar.first,
                  RankedTensorType::get({}, t.typeOf(scalarType(step.facts)))));
  scalars = optimizer.newScalars(t, iteration, old);
  if (!step.isScaled)
    put(places, scalars);
  for (unsigned i = 0; i < step.weights.size(); ++i)
    updateWeight(i);
  for (unsigned i = 0; i < step.weights.size(); ++i)
    finishWeight(i);
  step.variables[0] = t(step.variables[0]) + 1.0;
}

void Optimizer::step(OptimizerStep &step) const { Updater(*this, step).run(); }
