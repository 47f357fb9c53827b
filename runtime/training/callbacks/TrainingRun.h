//===- TrainingRun.h - a training, as callbacks see it ----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_TRAINING_CALLBACKS_TRAININGRUN_H
#define WEFT_RUNTIME_TRAINING_CALLBACKS_TRAININGRUN_H

#include "weft/runtime/training/ExactNumber.h"
#include "weft/runtime/training/ModelState.h"
#include "weft/runtime/training/ProgressBar.h"

#include <nlohmann/json.hpp>
#include <set>

namespace weft {

/// All that a run needs to go on with the same bits.
struct Checkpoint {
  nlohmann::json said = nlohmann::json::object();
  std::vector<StoredArray> arrays = {};

  int64_t integer(const char *key) const {
    bool isThere =
        said.is_object() && said.contains(key) && said[key].is_number_integer();
    return isThere ? said[key].get<int64_t>() : 0;
  }
  /// None where it is not there.
  std::optional<double> number(const char *key) const {
    bool isThere = said.is_object() && said.contains(key);
    return isThere ? std::optional(exactNumber(said[key])) : std::nullopt;
  }
  /// Nothing where there is none that can be read.
  std::optional<Array> array(const std::string &name) const {
    for (const StoredArray &stored : arrays)
      if (stored.name == name)
        if (Result<Array> value = stored.read())
          return std::move(*value);
    return std::nullopt;
  }
};

class TrainingRun {
public:
  virtual ~TrainingRun() = default;
  virtual ModelState &state() = 0;
  virtual void print(const std::string &text) = 0;
  virtual void warn(const std::string &text) = 0;
  /// The names that a batch and an epoch show: loss, val_loss.
  virtual std::set<std::string> shownNames() const = 0;
  /// Which of them are lists of numbers.
  virtual std::set<std::string> listNames() const = 0;
  /// Which of them not every epoch has; empty where each has all.
  virtual std::string rareNames() const = 0;
  /// The direction of a metric: "up" where larger is better, "down", or "" if not known.
  virtual std::string direction(const std::string &metric) const = 0;
  /// Can saveModel() write such a file? Asked before the first step.
  virtual Status canSaveModel(bool weightsAlone) const = 0;
  /// A .keras file, or one of the weights alone (.weights.h5).
  virtual Status saveModel(const std::string &path, bool weightsAlone) = 0;
  /// Values are read in all processes; only one writes files.
  virtual bool writesFiles() const = 0;
  /// Bytes of the process that writes files, in all of them.
  virtual Status share(std::vector<uint8_t> &bytes) = 0;
  virtual Result<Checkpoint> checkpoint() const = 0;
  virtual Status resume(Checkpoint checkpoint) = 0;
  /// Ctrl-C: the run ends here, and is to go on later.
  virtual bool isInterrupted() const = 0;

  int64_t epoch = 0; ///< from 0
  int64_t steps = 0; ///< done, of all epochs
  bool stop = false; ///< ends after this batch or epoch
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAINING_CALLBACKS_TRAININGRUN_H
