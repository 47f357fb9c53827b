#include "weft/training/callbacks/MonitorCallback.h"

#include <cmath>

namespace weft {

void MonitorCallback::monitorOptions(keras::Options &o) {
  o.text("monitor", monitor);
}

void MonitorCallback::modeOption(keras::Options &o) {
  o.choice("mode", mode, {"auto", "max", "min"});
}

Status MonitorCallback::trainBegin(TrainingRun &run) {
  std::string metric =
      monitor.starts_with("val_") ? monitor.substr(4) : monitor;
  std::string direction = mode == "max"   ? "up"
                          : mode == "min" ? "down"
                                          : run.direction(metric);
  if (direction.empty())
    return Error{"monitor \"" + monitor +
                 "\": whether more or less of it is better is not known; give "
                 "mode \"max\" or \"min\""};
  if (run.listNames().contains(monitor))
    return Error{"monitor \"" + monitor +
                 "\" gives several numbers, which cannot be compared; monitor "
                 "a metric of one number, such as loss"};
  isUp = direction == "up";
  return {};
}

std::optional<double> MonitorCallback::current(const Logs &logs) const {
  for (const auto &[name, value] : logs)
    if (name == monitor)
      return value.shown();
  return std::nullopt;
}

bool MonitorCallback::isBetter(double value, std::optional<double> than) const {
  if (!than)
    return true;
  double least = std::abs(minDelta);
  // The comparison is in float32, like Keras' own values.
  auto was = float(*than);
  return isUp ? float(value - least) > was : float(value + least) < was;
}

std::string namesOf(const Logs &logs) {
  std::string names;
  for (const auto &[name, value] : logs)
    names += (names.empty() ? "" : ",") + name;
  return names;
}

} // namespace weft
