//===- FitRun.h - one call of fit -------------------------------*- C++ -*-===//
//
//   Trainer::FitRun run(trainer, data, options);
//   Result<History> history = run.fit();
//
// The state that the call carries from batch to batch and from epoch to epoch,
// which a checkpoint contains and resume() restores:
//
//   {"epoch": 2, "batches": 3, "taken": 3, "stop": false, "metrics": {...}, ...}
//   order, generator, variables/PATH, and the state of callbacks
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_FITRUN_H
#define WEFT_TRAINING_FITRUN_H

#include "weft/training/BoundStep.h"

namespace weft {

class Trainer::FitRun final : public TrainingRun {
public:
  FitRun(Trainer &trainer, const TrainingData &data, const FitOptions &options);
  Result<History> fit();

  ModelState &state() override { return trainer.state; }
  void print(const std::string &text) override;
  void warn(const Message &text) override;
  std::set<std::string> shownNames() const override;
  std::set<std::string> listNames() const override;
  std::string rareNames() const override;
  std::string direction(const std::string &metric) const override;
  Status canSaveModel(bool weightsAlone) const override;
  Status saveModel(const std::string &path, bool weightsAlone) override;
  bool writesFiles() const override;
  Status share(std::vector<uint8_t> &bytes) override;
  Result<Checkpoint> checkpoint() const override;
  Status resume(Checkpoint checkpoint) override;
  bool isInterrupted() const override { return history.interrupted; }

private:
  /// Calls a method of the callbacks up to the first error, which is returned.
  template <typename Method, typename... Arguments>
  Status each(Method method, Arguments &&...arguments) {
    if (options.callbacks)
      for (const std::shared_ptr<Callback> &callback : *options.callbacks)
        if (Status ok = (*callback.*method)(*this, arguments...); !ok)
          return ok;
    return {};
  }
  Status check() const;
  Status begin();
  Status beginEpoch();
  Status runEpoch();
  /// Begins a step, and finishes the one before.
  Status runBatch(const std::vector<int64_t> &indices, ProgressBar &bar);
  /// A step whose results are not read.
  struct Running {
    BoundStep *step;
    std::vector<int64_t> indices;
    BoundStep::Started run = {};
  };
  Status startBatch(const std::vector<int64_t> &indices,
                    std::unique_ptr<Running> &out);
  /// Whether the next step may begin before the results of this one are read:
  /// nothing that is due between them ends the run or reads the model.
  bool runsAhead(const Running &its) const;
  /// Waits for a step and reads its results, for callbacks and the bar.
  Status finish(std::unique_ptr<Running> its, ProgressBar &bar);
  Status validate(Logs &logs);
  bool goesOn() const;
  void checkEnd();
  Status resumePosition(const Checkpoint &checkpoint);
  Status resumeVariables(const Checkpoint &checkpoint);
  Status resumeHistory(const nlohmann::json &said);

  Trainer &trainer;
  const TrainingData &data;
  const FitOptions &options;
  EpochOrder order;
  History history;
  RunningMetrics metrics;           ///< metrics of the epoch
  int64_t batches = 0;              ///< batches done in the epoch
  std::unique_ptr<Running> running; ///< at most one; null between epochs
  size_t nextSize = 0;      ///< samples of the step after the last one begun
  bool hasFinished = false; ///< whether a step is over
  std::chrono::steady_clock::time_point finished; ///< when it was
  bool ended = false;     ///< ended by Ctrl-C, or after maxSteps
  bool isInEpoch = false; ///< whether the run resumes inside this epoch
  const BoundStep *train = nullptr; ///< the first step, which names the metrics
};

} // namespace weft

#endif // WEFT_TRAINING_FITRUN_H
