//===- MonitorCallback.h - callbacks that watch one value -------*- C++ -*-===//

#ifndef WEFT_TRAINING_CALLBACKS_MONITORCALLBACK_H
#define WEFT_TRAINING_CALLBACKS_MONITORCALLBACK_H

#include "weft/training/callbacks/Callback.h"

namespace weft {

class MonitorCallback : public Callback {
public:
  /// Determines whether larger or smaller is better; an error if that is not
  /// known, or the value is a list.
  Status trainBegin(TrainingRun &run) override;

protected:
  void monitorOptions(keras::Options &o);
  void modeOption(keras::Options &o);
  /// The monitored value; none if the epoch does not have it.
  std::optional<double> current(const Logs &logs) const;
  /// Whether the value is better than `than` by more than the least change. Any
  /// value is better than none.
  bool isBetter(double value, std::optional<double> than) const;

  std::string monitor = "val_loss", mode = "auto";
  double minDelta = 0;
  std::optional<double> best;

private:
  bool isUp = false;
};

/// The names of values, for messages: loss, val_loss.
std::string namesOf(const Logs &logs);

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_MONITORCALLBACK_H
