//===- NumericsCheck.h - stops a training at its first NaN ------*- C++ -*-===//
//
//   NumericsCheck check(session, data);
//   check.begin();                              // keeps the variables
//   ... a step ...
//   Status ok = check.end(indices, logs);       // an error that names the op
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_TRAINING_NUMERICSCHECK_H
#define WEFT_TOOLS_WEFT_TRAINING_NUMERICSCHECK_H

#include "weft/tools/weft/training/TrainingSession.h"

namespace weft::tool {

class NumericsCheck {
public:
  NumericsCheck(TrainingSession &session, const TrainingData &data)
      : session(session), data(data) {}
  Status begin();
  /// Checks that all metrics and variables are finite.
  Status end(std::span<const int64_t> indices, const Logs &logs);

private:
  /// The first metric or variable that is not finite, and its value; empty if
  /// there is none.
  Result<std::string> findFlaw(const Logs &logs) const;
  /// The inputs of the step.
  Result<std::vector<NamedArray>>
  inputs(std::span<const int64_t> indices) const;
  TrainingSession &session;
  const TrainingData &data;
  std::vector<NamedArray> before;
  int64_t steps = 0;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAINING_NUMERICSCHECK_H
