#include "weft/training/callbacks/TerminateOnNaN.h"

#include "weft/training/callbacks/PythonText.h"

#include <cmath>

namespace weft {

Status TerminateOnNaN::batchEnd(TrainingRun &run, int64_t batch,
                                const Logs &logs) {
  for (const auto &[name, value] : logs) {
    if (name != "loss" || value.isFinite())
      continue;
    if (raises)
      return Error{
          "NaN or Inf loss encountered at batch " + std::to_string(batch) +
          " of epoch " + std::to_string(run.epoch + 1) + ": " +
          pythonText(value.shown()) +
          "; lower the learning rate, clip gradients, or look at the data"};
    run.print("Batch " + std::to_string(batch) +
              ": Invalid loss, terminating training\n");
    run.stop = true;
  }
  return {};
}

} // namespace weft
