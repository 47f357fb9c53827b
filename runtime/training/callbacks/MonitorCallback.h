//===- MonitorCallback.h - callbacks that watch one value -------*- C++ -*-===//

#ifndef WEFT_RUNTIME_TRAINING_CALLBACKS_MONITORCALLBACK_H
#define WEFT_RUNTIME_TRAINING_CALLBACKS_MONITORCALLBACK_H

#include "weft/runtime/training/callbacks/Callback.h"

namespace weft {

class MonitorCallback : public Callback {
public:
  /// The first of them finds out whether more or less is better.
  Status trainBegin(TrainingRun &run) override;

protected:
  void monitorOptions(CallbackOptions &o);
  void modeOption(CallbackOptions &o);
  /// The watched value; none where the epoch does not have it.
  std::optional<double> current(const Logs &logs) const;
  /// Is it better than that by more than the least change? All is better than
  /// nothing.
  bool isBetter(double value, std::optional<double> than) const;

  std::string monitor = "val_loss", mode = "auto";
  double minDelta = 0;
  std::optional<double> best;

private:
  bool isUp = false;
};

/// loss, val_loss: for messages.
std::string namesOf(const Logs &logs);

} // namespace weft

#endif // WEFT_RUNTIME_TRAINING_CALLBACKS_MONITORCALLBACK_H
