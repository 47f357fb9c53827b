//===- Statistics.h - what a run cost -------------------------*- C++ -*-===//
//
//   StepClock clock(flags.began);
//   clock.beginStep(); ... clock.endStep(runtime);     // for each step
//   statisticsJson(runtime, clock, compileMilliseconds);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_STATISTICS_H
#define WEFT_TOOLS_WEFT_STATISTICS_H

#include "weft/runtime/abi/weft.h"
#include "weft/tools/weft/Commands.h"

namespace weft::tool {

/// The times of steps, and what the collectives of the first one moved: a full
/// batch, as `weft explain` predicts it.
class StepClock {
public:
  explicit StepClock(TimePoint began) : began(began) {}
  void beginStep() { stepBegan = std::chrono::steady_clock::now(); }
  void endStep(const weft_runtime *runtime);
  /// The object of `--stats`; `startup_ms` is from the start of the process to
  /// the end of the first step.
  std::string json(const weft_runtime *runtime,
                   double compileMilliseconds) const;

private:
  struct Moved {
    std::string kind;
    uint64_t count, bytes;
  };
  TimePoint began, stepBegan;
  double startup = 0;
  std::vector<double> steps; ///< milliseconds
  std::vector<Moved> collectives;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_STATISTICS_H
