//===- Update.cpp - what training makes of gradients ----------------------===//

#include "weft/compiler/frontends/keras/import/Update.h"
#include "weft/compiler/frontends/keras/optimizers/Apply.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// The optimizer's variables by what they are for.
class Updater {
public:
  Updater(OpBuilder &builder, const Model &model,
          ArrayRef<OptimizerVariable> ofOptimizer, StepValues &values)
      : builder(builder), model(model), optimizer(*model.optimizer),
        ofOptimizer(ofOptimizer), values(values), t(at(optimizer.name)) {}
  void run(SmallVector<Value> gradients);

private:
  Tensors at(const std::string &name) {
    return Tensors(builder, NameLoc::get(builder.getStringAttr(name)));
  }
  /// Positions of the variables of a use, of one weight or (-1) of none.
  SmallVector<unsigned> positions(SlotUse use, int weight) const {
    SmallVector<unsigned> out;
    for (unsigned i = 0; i < ofOptimizer.size(); ++i)
      if (ofOptimizer[i].use == use && ofOptimizer[i].weight == weight)
        out.push_back(i);
    return out;
  }
  SmallVector<Value> at(ArrayRef<unsigned> positions) const {
    SmallVector<Value> out;
    for (unsigned position : positions)
      out.push_back(values.slots[position]);
    return out;
  }
  void put(ArrayRef<unsigned> positions, ArrayRef<Value> made) {
    for (auto [position, value] : llvm::zip_equal(positions, made))
      values.slots[position] = keptUnlessUpdate(value, values.slots[position]);
  }
  /// The new value, and the old one in a step that only adds gradients up.
  Value keptUnlessUpdate(Value made, Value old) {
    return isUpdate ? t.select(t.fill(isUpdate, made), made, old) : made;
  }
  void accumulate(MutableArrayRef<Value> gradients);
  void updateWeight(unsigned variable, Value gradient);
  void finishWeight(unsigned variable);

  OpBuilder &builder;
  const Model &model;
  const Optimizer &optimizer;
  ArrayRef<OptimizerVariable> ofOptimizer;
  StepValues &values;
  Tensors t;
  SmallVector<unsigned> trained;
  SmallVector<Value> scalars;
  Value iteration, rate;
  Value isUpdate; ///< i1, where a change takes several batches
};

} // namespace

/// Adds the gradients up, and means of them in the step that changes weights.
void Updater::accumulate(MutableArrayRef<Value> gradients) {
  if (!optimizer.accumulationSteps)
    return;
  double steps = double(*optimizer.accumulationSteps);
  isUpdate = isEvery(t, iteration, *optimizer.accumulationSteps);
  for (auto [variable, gradient] : llvm::zip_equal(trained, gradients)) {
    Value &total = values.slots[positions(SlotUse::Gradients, variable)[0]];
    Value added = t.add(gradient, total), now = t.fill(isUpdate, added);
    total = t.select(now, t.splat(0, added), added);
    gradient = t.select(now, t.div(added, steps), gradient);
  }
  iteration = t.make<DivOp>(iteration, t.splat(steps, iteration)); // of changes
}

void Updater::updateWeight(unsigned variable, Value gradient) {
  const Variable &described = model.variables[variable];
  WeightFacts facts{described.path, described.shape};
  Tensors here = at(optimizer.name + "/" + described.path);
  SmallVector<unsigned> places = positions(SlotUse::Slot, int(variable));
  SmallVector<Value> old = at(places);
  Value &weight = values.variables[variable];
  WeightUpdate update =
      apply(here, optimizer,
            {weight, gradient, old, iteration, rate, facts, scalars});
  weight = keptUnlessUpdate(update.weight, weight);
  put(places, update.slots);
}

/// Its moving average, and its constraint.
void Updater::finishWeight(unsigned variable) {
  Value &weight = values.variables[variable];
  if (optimizer.useEma) {
    Value &average = values.slots[positions(SlotUse::Average, variable)[0]];
    average = averaged(t, optimizer, iteration, average, weight);
    if (optimizer.emaOverwriteFrequency) {
      Value now = isEvery(t, iteration, *optimizer.emaOverwriteFrequency);
      weight = t.select(t.fill(now, weight), average, weight);
    }
  }
  const Variable &described = model.variables[variable];
  if (described.constraint) {
    Tensors here = at(optimizer.name + "/" + described.path);
    weight = described.constraint->apply(here, weight);
  }
}

void Updater::run(SmallVector<Value> gradients) {
  for (unsigned i = 0; i < model.variables.size(); ++i)
    if (model.variables[i].trainable)
      trained.push_back(i);
  iteration = values.slots[0];
  rate = rateOf(t, optimizer, iteration,
                optimizer.schedule ? Value() : values.slots[1]);
  if (optimizer.lossScaleFactor)
    for (Value &gradient : gradients)
      gradient = t.div(gradient, *optimizer.lossScaleFactor);
  accumulate(gradients);
  clip(t, optimizer, gradients);
  SmallVector<unsigned> places = positions(SlotUse::Scalar, -1);
  if (!trained.empty()) {
    scalars = optimizer.newScalars(t, iteration, at(places));
    put(places, scalars);
  }
  for (auto [variable, gradient] : llvm::zip_equal(trained, gradients))
    updateWeight(variable, gradient);
  for (unsigned variable : trained)
    finishWeight(variable);
  values.slots[0] = t.add(values.slots[0], 1.0);
}

void weft::keras::updateWeights(OpBuilder &builder, const Model &model,
                                ArrayRef<OptimizerVariable> ofOptimizer,
                                SmallVector<Value> gradients,
                                StepValues &values) {
  Updater(builder, model, ofOptimizer, values).run(std::move(gradients));
}
