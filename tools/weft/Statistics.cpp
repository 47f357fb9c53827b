//===- Statistics.cpp - what a run cost ------------------------------------===//

#include "weft/tools/weft/Statistics.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <sys/resource.h>

using namespace weft;

std::string weft::tool::statisticsJson(TrainingSession &session,
                                       const StepClock &clock) {
  llvm::json::Object collectives;
  const weft_counter *counters = nullptr;
  size_t count = weft_runtime_counters(session.runtime(), &counters);
  for (size_t i = 0; i < count; ++i)
    collectives[counters[i].kind] =
        llvm::json::Object{{"count", static_cast<int64_t>(counters[i].count)},
                           {"bytes", static_cast<int64_t>(counters[i].bytes)}};
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  double mean = clock.steps ? clock.milliseconds() / clock.steps : 0;
  llvm::json::Object stats{
      {"devices", weft_runtime_device_count(session.runtime())},
      {"steps", clock.steps},
      {"step_ms", llvm::json::Object{{"mean", mean}}},
      {"compile_ms", session.compileMilliseconds()},
      {"peak_rss_bytes", static_cast<int64_t>(usage.ru_maxrss) * 1024},
      {"collectives", std::move(collectives)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(stats))).str();
}
