//===- EarlyStopping.h - ends a training that gets no better ----*- C++ -*-===//

#ifndef WEFT_TRAINING_CALLBACKS_EARLYSTOPPING_H
#define WEFT_TRAINING_CALLBACKS_EARLYSTOPPING_H

#include "weft/training/KeptVariables.h"
#include "weft/training/callbacks/MonitorCallback.h"

namespace weft {

class EarlyStopping : public MonitorCallback {
public:
  void options(keras::Options &o) override;
  Status epochEnd(TrainingRun &run, Logs &logs) override;
  Status trainEnd(TrainingRun &run) override;
  void save(Checkpoint &to) const override;
  Status resume(TrainingRun &run, const Checkpoint &from) override;

private:
  Status keepWeights(TrainingRun &run);

  int64_t patience = 0, startFromEpoch = 0, verbose = 0;
  std::optional<double> baseline;
  bool restoresBest = false;
  int64_t wait = 0, stoppedEpoch = 0, bestEpoch = 0;
  KeptVariables bestWeights; ///< empty: none yet
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_EARLYSTOPPING_H
