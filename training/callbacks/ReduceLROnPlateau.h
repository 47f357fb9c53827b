//===- ReduceLROnPlateau.h - smaller steps where it gets no better -*- C++ -*-===//

#ifndef WEFT_TRAINING_CALLBACKS_REDUCELRONPLATEAU_H
#define WEFT_TRAINING_CALLBACKS_REDUCELRONPLATEAU_H

#include "weft/training/callbacks/MonitorCallback.h"

namespace weft {

class ReduceLROnPlateau : public MonitorCallback {
public:
  ReduceLROnPlateau() { minDelta = 1e-4; }
  void options(keras::Options &o) override;
  Status trainBegin(TrainingRun &run) override;
  Status epochEnd(TrainingRun &run, Logs &logs) override;
  void save(Checkpoint &to) const override;
  Status resume(TrainingRun &run, const Checkpoint &from) override;

private:
  /// Reduces the rates above the least one; returns whether there was any.
  Result<bool> reduce(TrainingRun &run) const;

  double factor = 0.1, minRate = 0;
  int64_t patience = 10, cooldown = 0, verbose = 0;
  int64_t wait = 0, cooling = 0;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_REDUCELRONPLATEAU_H
