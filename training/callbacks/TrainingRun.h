//===- TrainingRun.h - a training, as callbacks see it ----------*- C++ -*-===//

#ifndef WEFT_TRAINING_CALLBACKS_TRAININGRUN_H
#define WEFT_TRAINING_CALLBACKS_TRAININGRUN_H

#include "weft/training/ExactNumber.h"
#include "weft/training/ModelState.h"
#include "weft/training/ProgressBar.h"

#include <nlohmann/json.hpp>
#include <set>

namespace weft {

/// The state that a run needs to resume with the same bits.
struct Checkpoint {
  nlohmann::json said = nlohmann::json::object();
  std::vector<StoredArray> arrays = {};

  int64_t integer(const char *key) const {
    bool isThere =
        said.is_object() && said.contains(key) && said[key].is_number_integer();
    return isThere ? said[key].get<int64_t>() : 0;
  }
  /// A number by its key, if there is one.
  std::optional<double> number(const char *key) const {
    bool isThere = said.is_object() && said.contains(key);
    return isThere ? std::optional(exactNumber(said[key])) : std::nullopt;
  }
  /// An array by its name; nothing if there is none that can be read.
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
  virtual void warn(const Message &text) = 0;
  /// The names of values that a batch and an epoch show: loss, val_loss.
  virtual std::set<std::string> shownNames() const = 0;
  /// The names of metrics whose values are lists of numbers, and the same with
  /// val_ before them.
  virtual std::set<std::string> listNames() const = 0;
  /// The beginning of the names that some epochs lack, val_; empty if all
  /// epochs have all.
  virtual std::string rareNames() const = 0;
  /// The direction of a metric: "up" if larger is better, "down", or "" if
  /// unknown.
  virtual std::string direction(const std::string &metric) const = 0;
  /// Whether saveModel() can write such a file; called before the first step.
  virtual Status canSaveModel(bool weightsAlone) const = 0;
  /// Writes a .keras file, or one of the weights only (.weights.h5).
  virtual Status saveModel(const std::string &path, bool weightsAlone) = 0;
  /// Whether this process writes files. Values are read in all processes.
  virtual bool writesFiles() const = 0;
  /// Copies bytes of the process that writes files to all others.
  virtual Status share(std::vector<uint8_t> &bytes) = 0;
  virtual Result<Checkpoint> checkpoint() const = 0;
  virtual Status resume(Checkpoint checkpoint) = 0;
  /// Whether the run ends here after Ctrl-C, and is to be resumed later.
  virtual bool isInterrupted() const = 0;

  int64_t epoch = 0; ///< counted from 0
  int64_t steps = 0; ///< steps done in all epochs
  bool stop = false; ///< ends after this batch or epoch
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_TRAININGRUN_H
