//===- ModelCheckpoint.h - the model, again and again -----------*- C++ -*-===//

#ifndef WEFT_TRAINING_CALLBACKS_MODELCHECKPOINT_H
#define WEFT_TRAINING_CALLBACKS_MODELCHECKPOINT_H

#include "weft/training/callbacks/MonitorCallback.h"
#include "weft/training/callbacks/PythonText.h"

namespace weft {

class ModelCheckpoint : public MonitorCallback {
public:
  void options(keras::Options &o) override;
  Status trainBegin(TrainingRun &run) override;
  bool awaitsBatch() const override {
    return everyBatches && batchesSince + 1 >= everyBatches;
  }
  Status batchEnd(TrainingRun &run, int64_t batch, const Logs &logs) override;
  Status epochEnd(TrainingRun &run, Logs &logs) override;
  void save(Checkpoint &to) const override;
  Status resume(TrainingRun &run, const Checkpoint &from) override;

private:
  Status checkNames(const TrainingRun &run) const;
  bool isWanted(TrainingRun &run, const Logs &logs, const std::string &path);
  Status write(TrainingRun &run, std::optional<int64_t> batch,
               const Logs &logs);

  std::string filepath;
  PythonPattern pattern;
  int64_t verbose = 0, everyBatches = 0; ///< 0: each epoch
  bool bestOnly = false, weightsOnly = false;
  int64_t batchesSince = 0;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_MODELCHECKPOINT_H
