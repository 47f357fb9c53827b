//===- Update.cpp - what training makes of gradients ----------------------===//

#include "weft/compiler/frontends/keras/import/Update.h"
#include "weft/compiler/frontends/keras/optimizers/Apply.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void weft::keras::updateWeights(OpBuilder &builder, const Model &model,
                                ArrayRef<OptimizerVariable> ofOptimizer,
                                SmallVector<Value> gradients,
                                StepValues &values) {
  const Optimizer &optimizer = *model.optimizer;
  auto at = [&](const std::string &name) {
    return Tensors(builder, NameLoc::get(builder.getStringAttr(name)));
  };
  Tensors whole = at(optimizer.name);
  Value iteration = values.slots[0];
  Value rate = rateOf(whole, optimizer, iteration,
                      optimizer.schedule ? Value() : values.slots[1]);
  clip(whole, optimizer, gradients);
  const Value *gradient = gradients.begin();
  for (unsigned i = 0; i < model.variables.size(); ++i) {
    if (!model.variables[i].trainable)
      continue;
    SmallVector<Value> old;
    SmallVector<unsigned> positions;
    for (unsigned k = 0; k < ofOptimizer.size(); ++k)
      if (ofOptimizer[k].weight == int(i)) {
        old.push_back(values.slots[k]);
        positions.push_back(k);
      }
    Tensors t = at(optimizer.name + "/" + model.variables[i].path);
    Value &weight = values.variables[i];
    WeightUpdate update =
        apply(t, optimizer, {weight, *gradient++, old, iteration, rate});
    weight = update.weight;
    if (const ConstraintPtr &constraint = model.variables[i].constraint)
      weight = constraint->apply(t, weight);
    for (auto [position, slot] : llvm::zip_equal(positions, update.slots))
      values.slots[position] = slot;
  }
  values.slots[0] = whole.add(iteration, 1.0);
}
