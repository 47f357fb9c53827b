//===- Statistics.h - time, bytes and memory of a run -----------*- C++ -*-===//
//
//   StepClock clock;
//   clock.beginStep(); ... clock.endStep(runtime, execute, wait);   // each step
//   clock.json(runtime, compileMilliseconds, aheadBytes) ==
//   {"devices": 8, "steps": 190, "step_ms": {"median": 0.9, "min": 0.8},
//    "execute_ms": {"median": 0.7, "min": 0.6},
//    "data_wait_ms": {"median": 0.01, "total": 3.1}, "compile_ms": 61.2,
//    "startup_ms": 190.4, "peak_rss_bytes": 123456789,
//    "device_memory_bytes": 4567890, "batch_ahead_bytes": 401408,
//    "collectives": {"all_reduce": {"count": 1, "bytes": 712404}},
//    "own_code": []}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMS_STATISTICS_H
#define WEFT_TOOLS_WEFT_PROGRAMS_STATISTICS_H

#include "weft/runtime/abi/weft.h"
#include "weft/tools/weft/Commands.h"

#include <deque>

namespace weft::tool {

/// Times of any number of steps, in bounded memory: their number, least and
/// total are exact, and the median is that of every n-th step, where n doubles
/// each time that kMost of them are kept. The first step, which binds buffers
/// and warms caches, counts only if it is the only one.
class StepTimes {
public:
  void add(double time);
  int64_t count() const { return number; }
  double least() const { return number > 1 ? smallest : first; }
  double total() const { return number > 1 ? sum : first; }
  double median() const;
  static constexpr size_t kMost = 8192;

private:
  int64_t number = 0, every = 1;
  double first = 0, smallest = 0, sum = 0;
  std::vector<double> kept;
};

/// The times of steps, and the bytes of the collectives of the first one: a
/// full batch, as `weft explain` predicts it.
class StepClock {
public:
  void beginStep() { began.push_back(std::chrono::steady_clock::now()); }
  /// Ends the earliest step that has begun; its time counts from the end of the
  /// step before, if it began earlier. `executeSeconds`: the time in which the devices ran.
  /// `waitSeconds`: the time in which they waited for the batch.
  void endStep(const weft_runtime *runtime, double executeSeconds,
               double waitSeconds);
  /// The object of `--stats`. `step_ms` is the whole time of a step with the
  /// batch, metrics and progress bar, `execute_ms` that of the devices only,
  /// `data_wait_ms` the wait for the batch when the step could begin; all
  /// without the first step, unless it is the only one. `startup_ms` is from
  /// the start of the process to the end of the first step, in ticks of 10 ms.
  /// `shared`: what devices of this process share in the first step.
  /// `aheadBytes`: a device's memory for prefetched batches. `own_code`: why
  /// programs ran their own code where a library could compute.
  std::string json(weft_runtime *runtime, double compileMilliseconds,
                   uint64_t aheadBytes) const;

private:
  struct Moved {
    std::string kind;
    uint64_t count, bytes;
  };
  std::deque<TimePoint> began; ///< starts of steps that are not over
  TimePoint ended;             ///< end of the last step that is over
  double startup = 0;
  StepTimes steps, executions, waits; ///< milliseconds
  std::vector<Moved> collectives;
  weft_sharing shared = {};
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PROGRAMS_STATISTICS_H
