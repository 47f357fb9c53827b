//===- LearningRates.h - rates that a callback may set ----------*- C++ -*-===//
//
// The metadata of a variable's port says that it is one: {"rate": "adam"}. Where
// the rate follows a schedule there is none.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_TRAINING_CALLBACKS_LEARNINGRATES_H
#define WEFT_RUNTIME_TRAINING_CALLBACKS_LEARNINGRATES_H

#include "weft/runtime/training/callbacks/TrainingRun.h"

namespace weft {

struct LearningRate {
  std::string path, optimizer;
  /// learning_rate, or learning_rate_adam of several optimizers.
  std::string shownAs;
  /// "", or "adam " of several: for messages.
  std::string called;
};
std::vector<LearningRate> learningRates(const ModelState &state);
/// An error where a model has none.
Result<std::vector<LearningRate>> settableRates(const ModelState &state,
                                                const std::string &callback);
Result<double> readRate(const ModelState &state, const LearningRate &rate);
Status writeRate(ModelState &state, const LearningRate &rate, double value);
/// Shows each rate among an epoch's values.
Status addRates(const ModelState &state, Logs &logs);

} // namespace weft

#endif // WEFT_RUNTIME_TRAINING_CALLBACKS_LEARNINGRATES_H
