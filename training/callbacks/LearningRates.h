//===- LearningRates.h - rates that a callback may set ----------*- C++ -*-===//
//
// Learning rates are variables whose facts name the optimizer: rate = "adam". A
// rate that follows a schedule has no variable.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_LEARNINGRATES_H
#define WEFT_TRAINING_CALLBACKS_LEARNINGRATES_H

#include "weft/training/callbacks/TrainingRun.h"

namespace weft {

struct LearningRate {
  std::string path, optimizer;
  /// The name in logs: learning_rate, or learning_rate_adam if there are
  /// several optimizers.
  std::string shownAs;
  /// The name in messages: "", or "adam " if there are several optimizers.
  std::string called;
};
std::vector<LearningRate> learningRates(const ModelState &state);
/// The rates that a callback can set; an error if a model has none.
Result<std::vector<LearningRate>> settableRates(const ModelState &state,
                                                const std::string &callback);
Result<double> readRate(const ModelState &state, const LearningRate &rate);
Status writeRate(ModelState &state, const LearningRate &rate, double value);
/// Adds each rate to an epoch's values.
Status addRates(const ModelState &state, Logs &logs);

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_LEARNINGRATES_H
