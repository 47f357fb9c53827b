#include "weft/training/callbacks/ReduceLROnPlateau.h"

#include "weft/training/callbacks/LearningRates.h"
#include "weft/training/callbacks/PythonText.h"

namespace weft {

void ReduceLROnPlateau::options(keras::Options &o) {
  monitorOptions(o);
  o.number("factor", factor, keras::kAnyNumber);
  o.integer("patience", patience, keras::kNotNegative);
  o.integer("verbose", verbose, keras::kNotNegative);
  modeOption(o);
  o.number("min_delta", minDelta, keras::kAnyNumber);
  o.integer("cooldown", cooldown, keras::kNotNegative);
  o.number("min_lr", minRate, keras::kAnyNumber);
  o.check(factor < 1, "\"factor\" must be below 1, not " + pythonText(factor) +
                          "; the rate is multiplied by it");
}

Status ReduceLROnPlateau::trainBegin(TrainingRun &run) {
  auto rates = settableRates(run.state(), "ReduceLROnPlateau");
  return rates ? MonitorCallback::trainBegin(run) : Status{rates.error()};
}

Result<bool> ReduceLROnPlateau::reduce(TrainingRun &run) const {
  bool isReduced = false;
  for (const LearningRate &rate : learningRates(run.state())) {
    Result<double> old = readRate(run.state(), rate);
    if (!old)
      return old.error();
    if (!(*old > float(minRate)))
      continue;
    double reduced = std::max(*old * factor, minRate);
    if (Status ok = writeRate(run.state(), rate, reduced); !ok)
      return ok.error();
    isReduced = true;
    if (verbose > 0)
      run.print("\nEpoch " + std::to_string(run.epoch + 1) +
                ": ReduceLROnPlateau reducing " + rate.called +
                "learning rate to " + pythonText(reduced) + ".\n");
  }
  return isReduced;
}

Status ReduceLROnPlateau::epochEnd(TrainingRun &run, Logs &logs) {
  if (Status ok = addRates(run.state(), logs); !ok)
    return ok;
  std::optional<double> value = current(logs);
  if (!value) {
    run.warn("Learning rate reduction is conditioned on metric `" + monitor +
             "` which is not available. Available metrics are: " +
             namesOf(logs) + "; give another monitor");
    return {};
  }
  if (cooling > 0) {
    --cooling;
    wait = 0;
  }
  if (isBetter(*value, best)) {
    best = *value;
    wait = 0;
    return {};
  }
  if (cooling > 0 || ++wait < patience)
    return {};
  Result<bool> isReduced = reduce(run);
  if (!isReduced)
    return isReduced.error();
  if (*isReduced) {
    cooling = cooldown;
    wait = 0;
  }
  return {};
}

void ReduceLROnPlateau::save(Checkpoint &to) const {
  to.said = {{"wait", wait}, {"cooling", cooling}};
  if (best)
    to.said["best"] = exactNumber(*best);
}

Status ReduceLROnPlateau::resume(TrainingRun &, const Checkpoint &from) {
  wait = from.integer("wait");
  cooling = from.integer("cooling");
  best = from.number("best");
  return {};
}

} // namespace weft
