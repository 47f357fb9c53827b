//===- Statistics.h - what a run cost -------------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_STATISTICS_H
#define WEFT_TOOLS_WEFT_STATISTICS_H

#include "weft/tools/weft/TrainingSession.h"

#include <chrono>

namespace weft::tool {

/// Wall time of a training run.
struct StepClock {
  std::chrono::steady_clock::time_point began, ended;
  int64_t steps = 0;
  void start() { began = ended = std::chrono::steady_clock::now(); }
  void stop() { ended = std::chrono::steady_clock::now(); }
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(ended - began).count();
  }
};

/// The object of `--stats`: devices, steps, times, memory, and what the
/// collectives of the last step moved, counted while running.
std::string statisticsJson(TrainingSession &session, const StepClock &clock);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_STATISTICS_H
