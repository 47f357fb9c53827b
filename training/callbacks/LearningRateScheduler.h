//===- LearningRateScheduler.h - a rate for each epoch ----------*- C++ -*-===//

#ifndef WEFT_TRAINING_CALLBACKS_LEARNINGRATESCHEDULER_H
#define WEFT_TRAINING_CALLBACKS_LEARNINGRATESCHEDULER_H

#include "weft/training/callbacks/Callback.h"

#include <map>

namespace weft {

/// Keras' schedules, of epochs.
class Schedule : public keras::Configured {
public:
  /// The rate as keras.optimizers.schedules computes it, in float32.
  virtual float at(int64_t epoch) const = 0;
};

class LearningRateScheduler : public Callback {
public:
  void options(keras::Options &o) override;
  Status trainBegin(TrainingRun &run) override;
  Status epochBegin(TrainingRun &run) override;
  Status epochEnd(TrainingRun &run, Logs &logs) override;

private:
  std::shared_ptr<const Schedule> schedule;
  /// Without a schedule the rates by first epoch, one of which is 0.
  std::map<int64_t, double> rates;
  int64_t verbose = 0;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_LEARNINGRATESCHEDULER_H
