//===- Statistics.cpp - what a run cost
//------------------------------------===//

#include "weft/tools/weft/Statistics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

using namespace weft::tool;

static double milliseconds(TimePoint from, TimePoint to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

/// Of this program alone: getrusage() would count what the process was before
/// it became this program.
static int64_t peakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return 1024 * std::stoll(line.substr(6));
  return 0;
}

void StepClock::endStep(const weft_runtime *runtime) {
  TimePoint now = std::chrono::steady_clock::now();
  steps.push_back(milliseconds(stepBegan, now));
  if (steps.size() > 1)
    return;
  startup = milliseconds(began, now);
  const weft_counter *counters = nullptr;
  size_t count = weft_runtime_counters(runtime, &counters);
  for (size_t i = 0; i < count; ++i)
    collectives.push_back(
        {counters[i].kind, counters[i].count, counters[i].bytes});
}

std::string StepClock::json(const weft_runtime *runtime,
                            double compileMilliseconds) const {
  std::vector<double> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  nlohmann::ordered_json moved = nlohmann::ordered_json::object();
  for (const Moved &kind : collectives)
    moved[kind.kind] = {{"count", kind.count}, {"bytes", kind.bytes}};
  nlohmann::ordered_json stats;
  stats["devices"] = weft_runtime_device_count(runtime);
  stats["steps"] = steps.size();
  stats["step_ms"] = {
      {"median", sorted.empty() ? 0 : sorted[sorted.size() / 2]},
      {"min", sorted.empty() ? 0 : sorted.front()}};
  stats["compile_ms"] = compileMilliseconds;
  stats["startup_ms"] = startup;
  stats["peak_rss_bytes"] = peakBytes();
  stats["collectives"] = std::move(moved);
  return stats.dump(2) + "\n";
}
