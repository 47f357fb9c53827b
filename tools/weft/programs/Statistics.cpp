//===- Statistics.cpp - time, bytes and memory of a run -------------------===//

#include "weft/tools/weft/programs/Statistics.h"

#include "weft/runtime/abi/gpus.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
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

void StepTimes::add(double time) {
  int64_t later =
      number++; // the number of this step among those after the first
  if (later == 0) {
    first = time;
    return;
  }
  smallest = later == 1 ? time : std::min(smallest, time);
  sum += time;
  if ((later - 1) % every != 0)
    return;
  kept.push_back(time);
  if (kept.size() < kMost)
    return;
  for (size_t i = 0; i < kMost / 2; ++i)
    kept[i] = kept[2 * i];
  kept.resize(kMost / 2);
  every *= 2;
}

double StepTimes::median() const {
  if (kept.empty())
    return first;
  std::vector<double> sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

void StepClock::endStep(const weft_runtime *runtime, double executeSeconds,
                        double waitSeconds) {
  TimePoint begin = std::max(began.front(), ended);
  began.pop_front();
  ended = std::chrono::steady_clock::now();
  steps.add(milliseconds(begin, ended));
  executions.add(1e3 * executeSeconds);
  waits.add(1e3 * waitSeconds);
  if (steps.count() > 1)
    return;
  startup = processAge();
  shared = weft_runtime_sharing(runtime);
  const weft_counter *counters = nullptr;
  size_t count = weft_runtime_counters(runtime, &counters);
  for (size_t i = 0; i < count; ++i)
    collectives.push_back(
        {counters[i].kind, counters[i].count, counters[i].bytes});
}

static nlohmann::ordered_json medianAndTotal(const StepTimes &times) {
  return {{"median", times.median()}, {"total", times.total()}};
}

static nlohmann::ordered_json medianAndMin(const StepTimes &times) {
  return {{"median", times.median()}, {"min", times.least()}};
}

std::string StepClock::json(weft_runtime *runtime, double compileMilliseconds,
                            uint64_t aheadBytes) const {
  nlohmann::ordered_json moved = nlohmann::ordered_json::object();
  for (const Moved &kind : collectives)
    moved[kind.kind] = {{"count", kind.count}, {"bytes", kind.bytes}};
  nlohmann::ordered_json stats;
  stats["devices"] = weft_runtime_device_count(runtime);
  stats["steps"] = steps.count();
  stats["step_ms"] = medianAndMin(steps);
  stats["execute_ms"] = medianAndMin(executions);
  stats["data_wait_ms"] = medianAndTotal(waits);
  stats["compile_ms"] = compileMilliseconds;
  stats["startup_ms"] = startup;
  stats["peak_rss_bytes"] = peakBytes();
  stats["device_memory_bytes"] = weft_runtime_peak_memory(runtime);
  stats["batch_ahead_bytes"] = aheadBytes;
  stats["shared"] = {{"instructions", shared.instructions},
                     {"waits", shared.waits},
                     {"bytes", shared.bytes}};
  stats["collectives"] = std::move(moved);
  const char *const *notes = nullptr;
  size_t count = weft_gpu_notes(runtime, &notes);
  stats["own_code"] = std::vector<std::string>(notes, notes + count);
  return stats.dump(2) + "\n";
}
