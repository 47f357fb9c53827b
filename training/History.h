//===- History.h - the logs of each epoch of fit() --------------*- C++ -*-===//
//
//   {"epoch": [0, 1], "history": {"loss": [1.2, 0.9]}, "steps": {"loss": [...]}}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_HISTORY_H
#define WEFT_TRAINING_HISTORY_H

#include "weft/training/ProgressBar.h"

#include <nlohmann/json_fwd.hpp>

namespace weft {

struct History {
  using Series = std::vector<std::pair<std::string, std::vector<LogValue>>>;
  std::vector<int64_t> epoch; ///< counted from 0
  Series history;             ///< values of the epochs that have them
  Series steps; ///< values of the batches that gave one, as StepReport::logs
  int64_t stepCount = 0;
  bool interrupted = false; ///< by a request to stop, such as Ctrl-C

  void addEpoch(int64_t number, const Logs &logs);
  void addStep(const Logs &logs);
  /// The whole history as JSON, to continue it later: NaN and infinities are
  /// texts.
  nlohmann::json save() const;
  /// Restores a saved history; false if the JSON is not one.
  bool resume(const nlohmann::json &said);
  /// The history as JSON text. Metrics of several numbers are lists. Numbers
  /// read back to the same double; NaN and infinities are written as by
  /// Python's json (NaN, Infinity).
  std::string json(bool withSteps) const;
};

/// A JSON object of names and values, as `evaluate --json` prints it.
std::string logsJson(const Logs &logs);
/// A value with six digits, 0.5 or [0.5 1], as `evaluate` prints it.
std::string plainText(const LogValue &value);

} // namespace weft

#endif // WEFT_TRAINING_HISTORY_H
