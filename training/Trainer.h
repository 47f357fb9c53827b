//===- Trainer.h - fit, evaluate and predict over programs ------*- C++ -*-===//
//
//   Trainer trainer(runtime, state, [&](StepKind kind, int64_t batch) {
//     return compileOrFind(kind, batch);        // Result<weft_program *>
//   });
//   Result<History> history = trainer.fit(data, options);
//
// The trainer does not depend on models: it binds arrays to a program's ports
// by their roles and names. A short last batch runs a program of its own size,
// so losses, metrics and statistics contain no padding. Programs stay the
// caller's and must outlive the trainer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_TRAINER_H
#define WEFT_TRAINING_TRAINER_H

#include "weft/base/StepKind.h"
#include "weft/training/BackgroundThread.h"
#include "weft/training/EpochOrder.h"
#include "weft/training/History.h"
#include "weft/training/ModelState.h"
#include "weft/training/RunningMetrics.h"
#include "weft/training/TrainingData.h"
#include "weft/training/ValidationEpochs.h"
#include "weft/training/callbacks/Callback.h"

#include <atomic>
#include <map>
#include <span>

namespace weft {

/// Returns a program of this kind for this batch size.
using ProgramSource =
    std::function<Result<weft_program *>(StepKind, int64_t batch)>;

struct LoopOptions {
  int64_t batchSize = 32;
  /// The batch sizes for which predict has steps (BatchPlan.h). If empty,
  /// predict runs batches of `batchSize`, and the last one in its own size.
  std::vector<int64_t> batchSizes = {};
  bool dropRemainder = false;
  std::optional<int64_t> steps = {}; ///< steps of evaluate; none: all batches
  int verbose = 1;
  bool terminal = true;
  std::function<double()> clock = {};
  std::function<void(std::string_view)> print = {}; ///< may be empty
  std::function<void(const Message &)> warn = {};   ///< none: no warnings
  std::function<void(const Message &)> note = {};   ///< none: no notes
  const std::atomic<bool> *stop =
      nullptr; ///< set by Ctrl-C: end after this step
  /// Returns whether any of the processes that train together is to stop.
  std::function<bool(bool mine)> vote = {};
};

struct FitOptions : LoopOptions {
  int64_t epochs = 1, initialEpoch = 0;
  Shuffle shuffle = Shuffle::All;
  std::optional<int64_t> stepsPerEpoch = {}, maxSteps = {};
  bool keepSteps = false; ///< the history has a value for each batch, too
  MersenneTwister *generator = nullptr; ///< needed to shuffle
  bool firstFit = true;                 ///< see EpochOrder
  const TrainingData *validation = nullptr;
  std::optional<int64_t> validationBatchSize = {}, validationSteps = {};
  ValidationEpochs validationEpochs = {};
  /// Whether a step may begin before the results of the one before are read.
  bool runsAhead = true;
  /// Called before each step, once its program is ready.
  std::function<Status()> stepBegin = {};
  struct StepReport {
    /// The time on the devices; until its results are read, if the devices were
    /// done before.
    double executeSeconds;
    double waitSeconds; ///< time of waiting for the samples
    std::span<const int64_t> indices;
    /// Values of the batch alone; of metrics over all batches, those so far.
    const Logs &logs;
  };
  std::function<Status(const StepReport &)> stepEnd = {};
  const CallbackList *callbacks = nullptr;
  /// Checks and writes models for callbacks; see TrainingRun.
  std::function<Status(bool weightsAlone)> canSaveModel = {};
  std::function<Status(const std::string &path, bool weightsAlone)> saveModel =
      {};
  /// The processes that train together; null: only this process.
  weft_processes *processes = nullptr;
  /// An object of JSON: further settings that change results, such as the
  /// model's, and that a run must share with the one that it resumes.
  std::string settings = {};
  /// The seed of the run; a run with another one is refused if it is given.
  std::optional<uint64_t> seed = {};
  bool seedIsGiven = false;
};

class Trainer {
public:
  Trainer(weft_runtime *runtime, ModelState &state [[clang::lifetimebound]],
          ProgramSource programs);
  ~Trainer();
  Result<History> fit(const TrainingData &data, const FitOptions &options);
  /// Metrics of the samples that ran, sorted by name.
  Result<Logs> evaluate(const TrainingData &data, const LoopOptions &options);
  /// The outputs of all samples, by the name of the output port.
  Result<std::vector<NamedArray>> predict(const TrainingData &data,
                                          const LoopOptions &options);

  /// Sets whether batches are written ahead to the devices, or to memory of the
  /// host. `lack`: whether devices of a process have no memory for them, so that
  /// none writes them there; `mine`: whether those of this process have none.
  void writeAheadOnDevices(bool on, std::function<bool(bool mine)> lack = {}) {
    aheadOnDevices = on;
    devicesLack = std::move(lack);
  }
  /// The bytes on one device of batches that are written ahead.
  uint64_t aheadBytes() const;

private:
  struct BoundStep;
  class FitRun;
  Result<BoundStep *> step(StepKind kind, int64_t batch);
  /// Writes these samples for the step and executes it; meanwhile writes the
  /// next ones, if there are any and their program exists.
  Status run(BoundStep &step, StepKind kind, const TrainingData &data,
             const std::vector<int64_t> &indices,
             const std::vector<int64_t> &next);
  void prefetch(StepKind kind, const TrainingData &data,
                const std::vector<int64_t> &next);
  /// Drops prefetched samples at the end of a loop over data.
  struct EndOfData;
  Result<Logs> testLoop(const TrainingData &data, const LoopOptions &options,
                        ProgressBar &bar);

  weft_runtime *runtime;
  ModelState &state;
  ProgramSource programs;
  bool aheadOnDevices = true;
  std::function<bool(bool mine)> devicesLack = {};
  std::map<std::pair<StepKind, int64_t>, std::unique_ptr<BoundStep>> steps;
  BackgroundThread thread; ///< ends before the steps do
};

ProgressBar makeBar(const LoopOptions &options, int64_t target);
/// Whether the loop ends before its next step.
bool isStopped(const LoopOptions &options);

} // namespace weft

#endif // WEFT_TRAINING_TRAINER_H
