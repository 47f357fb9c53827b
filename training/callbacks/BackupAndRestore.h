//===- BackupAndRestore.h - a training that outlives its process -*- C++ -*-===//
//
// backup_dir/latest.npz has all that the run needs to continue with the same
// bits: variables, the order of samples, the sums of metrics, the history and
// the state of other callbacks. It is replaced as a whole, so there is a
// complete one at any time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_BACKUPANDRESTORE_H
#define WEFT_TRAINING_CALLBACKS_BACKUPANDRESTORE_H

#include "weft/training/callbacks/Callback.h"

namespace weft {

class BackupAndRestore : public Callback {
public:
  bool isBackup() const override { return true; }
  void options(keras::Options &o) override;
  Status trainBegin(TrainingRun &run) override;
  Status restore(TrainingRun &run) override;
  bool awaitsBatch() const override {
    return everyBatches && batchesSince + 1 >= everyBatches;
  }
  Status settled(TrainingRun &run, bool isEpochEnd) override;
  Status resultsSaved(bool writesFiles) override;
  void save(Checkpoint &to) const override;
  Status resume(TrainingRun &run, const Checkpoint &from) override;

private:
  std::string latest() const { return folder + "/latest.npz"; }
  std::string previous() const { return latest() + ".bkp"; }
  Status checkAlike(TrainingRun &run, const std::string &path) const;
  Status keepPrevious() const;

  std::string folder;
  int64_t everyBatches = 0; ///< 0: each epoch
  bool keepsTwo = false, deletes = true;
  int64_t batchesSince = 0;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_BACKUPANDRESTORE_H
