//===- Callback.h - the interface of callbacks ------------------*- C++ -*-===//
//
// One class for each callback of Keras, with its name, its options and its
// messages. The training loop calls the methods in this order; the bar comes
// after batchEnd and epochEnd, and the history after epochEnd, as in Keras:
//
//   trainBegin  restore
//     epochBegin
//       batchEnd  settled       for each batch
//     epochEnd  settled
//   trainEnd
//   resultsSaved                the files of the results are written
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_CALLBACK_H
#define WEFT_TRAINING_CALLBACKS_CALLBACK_H

#include "weft/base/config/Options.h"
#include "weft/training/callbacks/TrainingRun.h"

namespace weft {

class Callback : public keras::Configured {
public:
  /// Whether its options change nothing but backups.
  virtual bool isBackup() const { return false; }

  void options(keras::Options &) override {}

  virtual Status trainBegin(TrainingRun &) { return {}; }
  /// Called when all callbacks have begun, to resume from a checkpoint.
  virtual Status restore(TrainingRun &) { return {}; }
  virtual Status epochBegin(TrainingRun &) { return {}; }
  /// Called after each batch. `logs`: running means of the epoch so far.
  /// `batch` counts from 0.
  virtual Status batchEnd(TrainingRun &, int64_t, const Logs &) { return {}; }
  /// Whether batchEnd or settled of the batch that is running must be called
  /// before another batch begins, as it ends the training or reads the model.
  virtual bool awaitsBatch() const { return false; }
  /// Called after each epoch that Ctrl-C did not end; may add to the values
  /// that the epoch shows and the history keeps.
  virtual Status epochEnd(TrainingRun &, Logs &) { return {}; }
  /// Called when everything of a batch (or an epoch) is done: run.checkpoint()
  /// is complete.
  virtual Status settled(TrainingRun &, bool /*isEpochEnd*/) { return {}; }
  virtual Status trainEnd(TrainingRun &) { return {}; }
  virtual Status resultsSaved(bool /*writesFiles*/) { return {}; }

  /// Writes the state that a run needs to resume here.
  virtual void save(Checkpoint &) const {}
  virtual Status resume(TrainingRun &, const Checkpoint &) { return {}; }
};

using CallbackList = std::vector<std::shared_ptr<Callback>>;

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_CALLBACK_H
