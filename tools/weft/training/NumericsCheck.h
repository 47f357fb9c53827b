//===- NumericsCheck.h - stops a training at its first NaN ------*- C++ -*-===//
//
//   NumericsCheck check(session, data, processes);
//   check.begin();                              // keeps the variables
//   ... a step ...
//   Status ok = check.end(indices, logs);       // an error that names the op
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_TRAINING_NUMERICSCHECK_H
#define WEFT_TOOLS_WEFT_TRAINING_NUMERICSCHECK_H

#include "weft/tools/weft/training/TrainingSession.h"
#include "weft/training/KeptVariables.h"

namespace weft::tool {

class NumericsCheck {
public:
  /// `processes` may be null.
  NumericsCheck(TrainingSession &session [[clang::lifetimebound]],
                const TrainingData &data [[clang::lifetimebound]],
                weft_processes *processes)
      : session(session), data(data), processes(processes) {}
  Status begin();
  /// Checks that all metrics and variables of floats are finite. Variables are
  /// read block by block; the first process holds full arrays only to repeat a
  /// step.
  Status end(std::span<const int64_t> indices, const Logs &logs);

private:
  /// The first metric or variable that is not finite, and its value; empty if
  /// there is none.
  Result<std::string> findFlaw(const Logs &logs) const;
  /// The inputs of the step. All processes read them; only the first gets them.
  Result<std::vector<NamedArray>>
  inputs(std::span<const int64_t> indices) const;
  /// Repeats the step; returns the op that made the first value that is not
  /// finite, the same text in all processes.
  Result<std::string> repeat(std::span<const int64_t> indices);
  bool isFirst() const { return weft_processes_rank(processes) == 0; }
  TrainingSession &session;
  const TrainingData &data;
  weft_processes *processes;
  KeptVariables before;
  int64_t steps = 0;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAINING_NUMERICSCHECK_H
