//===- Schedules.h - Keras' schedules, of epochs ----------------*- C++ -*-===//
//
//   auto rates = Schedule::read({{"class_name", "ExponentialDecay"}, {"config", ...}}, where);
//   (*rates)->at(3)               // float32, as keras.optimizers.schedules computes it
//
// A schedule may also be a table: [0.1, 0.1, 0.01], whose last value stays, or
// {"0": 0.1, "2": 0.01}, from an epoch on.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_SCHEDULES_H
#define WEFT_TRAINING_CALLBACKS_SCHEDULES_H

#include "weft/training/callbacks/CallbackOptions.h"

#include <memory>

namespace weft {

class Schedule {
public:
  virtual ~Schedule() = default;
  virtual void options(CallbackOptions &) {}
  virtual double at(int64_t epoch) const = 0;

  static Result<std::unique_ptr<Schedule>> read(const nlohmann::json &said,
                                                const std::string &where);
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_SCHEDULES_H
