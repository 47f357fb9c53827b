//===- Statistics.cpp - time, bytes and memory of a run -------------------===//

#include "weft/tools/weft/programs/Statistics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <time.h>
#include <unistd.h>

using namespace weft::tool;

static double milliseconds(TimePoint from, TimePoint to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

/// The peak memory of this program only: getrusage() would include the process
/// before exec.
static int64_t peakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return 1024 * std::stoll(line.substr(6));
  return 0;
}

/// Milliseconds since the kernel started this process, dynamic linking
/// included.
static double processAge() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string field; // field 22 is the start; field 2 is in brackets
  for (int i = 3; i <= 22; ++i)
    fields >> field;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  double started =
      std::strtod(field.c_str(), nullptr) / double(sysconf(_SC_CLK_TCK));
  return 1e3 * (double(now.tv_sec) - started) + double(now.tv_nsec) / 1e6;
}

void StepClock::endStep(const weft_runtime *runtime, double executeSeconds,
                        double waitSeconds) {
  steps.push_back(milliseconds(stepBegan, std::chrono::steady_clock::now()));
  executions.push_back(1e3 * executeSeconds);
  waits.push_back(1e3 * waitSeconds);
  if (steps.size() > 1)
    return;
  startup = processAge();
  const weft_counter *counters = nullptr;
  size_t count = weft_runtime_counters(runtime, &counters);
  for (size_t i = 0; i < count; ++i)
    collectives.push_back(
        {counters[i].kind, counters[i].count, counters[i].bytes});
}

/// The times without the first step, which binds buffers and warms caches,
/// unless it is the only one.
static std::vector<double> withoutFirst(std::vector<double> times) {
  if (times.size() > 1)
    times.erase(times.begin());
  return times;
}

static nlohmann::ordered_json medianAndTotal(std::vector<double> times) {
  times = withoutFirst(std::move(times));
  double total = std::accumulate(times.begin(), times.end(), 0.0);
  std::sort(times.begin(), times.end());
  return {{"median", times.empty() ? 0 : times[times.size() / 2]},
          {"total", total}};
}

static nlohmann::ordered_json medianAndMin(std::vector<double> times) {
  times = withoutFirst(std::move(times));
  if (times.empty())
    return {{"median", 0}, {"min", 0}};
  std::sort(times.begin(), times.end());
  return {{"median", times[times.size() / 2]}, {"min", times.front()}};
}

std::string StepClock::json(const weft_runtime *runtime,
                            double compileMilliseconds,
                            uint64_t aheadBytes) const {
  nlohmann::ordered_json moved = nlohmann::ordered_json::object();
  for (const Moved &kind : collectives)
    moved[kind.kind] = {{"count", kind.count}, {"bytes", kind.bytes}};
  nlohmann::ordered_json stats;
  stats["devices"] = weft_runtime_device_count(runtime);
  stats["steps"] = steps.size();
  stats["step_ms"] = medianAndMin(steps);
  stats["execute_ms"] = medianAndMin(executions);
  stats["data_wait_ms"] = medianAndTotal(waits);
  stats["compile_ms"] = compileMilliseconds;
  stats["startup_ms"] = startup;
  stats["peak_rss_bytes"] = peakBytes();
  stats["device_memory_bytes"] = weft_runtime_peak_memory(runtime);
  stats["batch_ahead_bytes"] = aheadBytes;
  stats["collectives"] = std::move(moved);
  return stats.dump(2) + "\n";
}
