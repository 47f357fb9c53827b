#include "weft/training/callbacks/EarlyStopping.h"

namespace weft {

void EarlyStopping::options(keras::Options &o) {
  monitorOptions(o);
  o.number("min_delta", minDelta, keras::kAnyNumber);
  o.integer("patience", patience, keras::kNotNegative);
  o.integer("verbose", verbose, keras::kNotNegative);
  modeOption(o);
  o.maybeNumber("baseline", baseline, keras::kAnyNumber);
  o.flag("restore_best_weights", restoresBest);
  o.integer("start_from_epoch", startFromEpoch, keras::kNotNegative);
}

/// Keeps Keras' get_weights(): the layers' variables, not the optimizer's.
Status EarlyStopping::keepWeights(TrainingRun &run) {
  if (!restoresBest)
    return {};
  return bestWeights.keep(run.state(),
                          [](const Port &port) { return port.isWeight(); });
}

Status EarlyStopping::epochEnd(TrainingRun &run, Logs &logs) {
  std::optional<double> value = current(logs);
  if (!value)
    run.warn("Early stopping conditioned on metric `" + monitor +
             "` which is not available. Available metrics are: " +
             namesOf(logs) + "; give another monitor");
  if (!value || run.epoch < startFromEpoch)
    return {};
  if (restoresBest && bestWeights.empty()) {
    if (Status ok = keepWeights(run); !ok)
      return ok;
    bestEpoch = run.epoch;
  }
  ++wait;
  if (isBetter(*value, best)) {
    best = *value;
    bestEpoch = run.epoch;
    if (!baseline || isBetter(*value, baseline))
      wait = 0;
    return keepWeights(run);
  }
  if (wait >= patience && run.epoch > 0) {
    stoppedEpoch = run.epoch;
    run.stop = true;
  }
  return {};
}

Status EarlyStopping::trainEnd(TrainingRun &run) {
  if (stoppedEpoch > 0 && verbose > 0)
    run.print("Epoch " + std::to_string(stoppedEpoch + 1) +
              ": early stopping\n");
  if (bestWeights.empty())
    return {};
  if (verbose > 0)
    run.print("Restoring model weights from the end of the best epoch: " +
              std::to_string(bestEpoch + 1) + ".\n");
  return bestWeights.restore(run.state());
}

void EarlyStopping::save(Checkpoint &to) const {
  to.said = {{"wait", wait},
             {"stopped_epoch", stoppedEpoch},
             {"best_epoch", bestEpoch}};
  if (best)
    to.said["best"] = exactNumber(*best);
  to.arrays = bestWeights.stored();
}

Status EarlyStopping::resume(TrainingRun &run, const Checkpoint &from) {
  wait = from.integer("wait");
  stoppedEpoch = from.integer("stopped_epoch");
  bestEpoch = from.integer("best_epoch");
  best = from.number("best");
  return bestWeights.load(run.state(), from.arrays);
}

} // namespace weft
