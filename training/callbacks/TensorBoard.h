//===- TensorBoard.h - curves and histograms for TensorBoard ----*- C++ -*-===//
//
//   logs/train/events.out.tfevents...        epoch_loss, epoch_learning_rate, batch_loss,
//                                            d1/kernel/histogram
//   logs/validation/events.out.tfevents...   epoch_loss, evaluation_loss_vs_iterations
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_TENSORBOARD_H
#define WEFT_TRAINING_CALLBACKS_TENSORBOARD_H

#include "weft/training/callbacks/Callback.h"
#include "weft/training/callbacks/EventFile.h"

#include <chrono>

namespace weft {

class TensorBoard : public Callback {
public:
  void options(keras::Options &o) override;
  Status trainBegin(TrainingRun &run) override;
  Status epochBegin(TrainingRun &run) override;
  Status batchEnd(TrainingRun &run, int64_t batch, const Logs &logs) override;
  Status epochEnd(TrainingRun &run, Logs &logs) override;
  void save(Checkpoint &to) const override;
  Status resume(TrainingRun &run, const Checkpoint &from) override;

private:
  using Clock = std::chrono::steady_clock;
  Status writeEpoch(TrainingRun &run, const Logs &logs);
  Status writeValidation(TrainingRun &run, const Logs &logs);
  Status writeWeights(TrainingRun &run);

  std::string folder = "logs";
  /// Epochs between histograms, 0: none; batches between curves, 0: each epoch.
  int64_t histogramEvery = 0, everyBatches = 0;
  bool writesGraph = true, writesSpeed = false;
  /// Batches of all epochs, and of those before this one.
  int64_t batches = 0, batchesBefore = 0;
  Clock::time_point epochStart;
  std::optional<EventFile> train, validation;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_TENSORBOARD_H
