//===- TerminateOnNaN.h - ends a training whose loss is no number -*- C++ -*-===//

#ifndef WEFT_TRAINING_CALLBACKS_TERMINATEONNAN_H
#define WEFT_TRAINING_CALLBACKS_TERMINATEONNAN_H

#include "weft/training/callbacks/Callback.h"

namespace weft {

class TerminateOnNaN : public Callback {
public:
  void options(keras::Options &o) override { o.flag("raise_error", raises); }
  bool awaitsBatch() const override { return true; }
  Status batchEnd(TrainingRun &run, int64_t batch, const Logs &logs) override;

private:
  bool raises = false;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_TERMINATEONNAN_H
