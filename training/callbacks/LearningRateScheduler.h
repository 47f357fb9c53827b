//===- LearningRateScheduler.h - a rate for each epoch ----------*- C++ -*-===//

#ifndef WEFT_TRAINING_CALLBACKS_LEARNINGRATESCHEDULER_H
#define WEFT_TRAINING_CALLBACKS_LEARNINGRATESCHEDULER_H

#include "weft/training/callbacks/Callback.h"
#include "weft/training/callbacks/Schedules.h"

namespace weft {

class LearningRateScheduler : public Callback {
public:
  void options(CallbackOptions &o) override;
  Status trainBegin(TrainingRun &run) override;
  Status epochBegin(TrainingRun &run) override;
  Status epochEnd(TrainingRun &run, Logs &logs) override;

private:
  std::unique_ptr<Schedule> schedule;
  int64_t verbose = 0;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_LEARNINGRATESCHEDULER_H
