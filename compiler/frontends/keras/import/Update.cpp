//===- Update.cpp - new weights from gradients ----------------------------===//

#include "weft/compiler/frontends/keras/import/Update.h"
#include "weft/compiler/frontends/keras/optimizers/Apply.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void weft::keras::updateWeights(OpBuilder &builder, const Model &model,
                                SmallVector<Value> gradients,
                                StepValues &values) {
  const std::vector<WeightFacts> facts = model.trainedWeights();
  const std::vector<unsigned> trained = model.trained();
  OptimizerStep step{builder, facts,        std::move(gradients),
                     {},      values.slots, model.optimizer->lossScaleFactor};
  for (unsigned variable : trained)
    step.weights.push_back(values.variables[variable]);
  model.optimizer->step(step);
  for (auto [variable, weight] : llvm::zip_equal(trained, step.weights))
    values.variables[variable] = weight;
  values.slots = std::move(step.variables);
}
