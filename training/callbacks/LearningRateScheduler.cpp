#include "weft/training/callbacks/LearningRateScheduler.h"

#include "weft/training/callbacks/LearningRates.h"
#include "weft/training/callbacks/PythonText.h"

namespace weft {

void LearningRateScheduler::options(CallbackOptions &o) {
  o.required("schedule");
  if (const nlohmann::json *said = o.any("schedule")) {
    auto read = Schedule::read(*said, "\"schedule\"");
    o.check(bool(read), read ? "" : read.message());
    if (read)
      schedule = std::move(*read);
  }
  o.integer("verbose", verbose, 0);
}

Status LearningRateScheduler::trainBegin(TrainingRun &run) {
  auto rates = settableRates(run.state(), "LearningRateScheduler");
  return rates ? Status{} : Status{rates.error()};
}

Status LearningRateScheduler::epochBegin(TrainingRun &run) {
  double value = schedule->at(run.epoch);
  for (const LearningRate &rate : learningRates(run.state())) {
    if (Status ok = writeRate(run.state(), rate, value); !ok)
      return ok;
    if (verbose > 0)
      run.print("\nEpoch " + std::to_string(run.epoch + 1) +
                ": LearningRateScheduler setting " + rate.called +
                "learning rate to " + pythonText(value) + ".\n");
  }
  return {};
}

Status LearningRateScheduler::epochEnd(TrainingRun &run, Logs &logs) {
  return addRates(run.state(), logs);
}

} // namespace weft
