#include "weft/runtime/training/History.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft {

namespace {
void append(History::Series &series, const Logs &logs) {
  for (const auto &[name, value] : logs) {
    auto it =
        std::find_if(series.begin(), series.end(),
                     [&](const auto &known) { return known.first == name; });
    if (it == series.end())
      it = series.insert(series.end(), {name, {}});
    it->second.push_back(value);
  }
}

std::string number(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "Infinity" : "-Infinity";
  char text[32];
  auto [end, code] = std::to_chars(text, text + sizeof text, value);
  std::string out(text, end);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

std::string quoted(const std::string &name) {
  std::string out = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string seriesJson(const History::Series &series) {
  std::string out = "{";
  for (size_t i = 0; i < series.size(); ++i) {
    out += (i ? ", " : "") + quoted(series[i].first) + ": [";
    for (size_t k = 0; k < series[i].second.size(); ++k)
      out += (k ? ", " : "") + number(series[i].second[k]);
    out += "]";
  }
  return out + "}";
}
} // namespace

void History::addEpoch(int64_t number, const Logs &logs) {
  epoch.push_back(number);
  append(history, logs);
}

void History::addStep(const Logs &logs) {
  ++stepCount;
  append(steps, logs);
}

std::string History::json(bool withSteps) const {
  std::string out = "{\"epoch\": [";
  for (size_t i = 0; i < epoch.size(); ++i)
    out += (i ? ", " : "") + std::to_string(epoch[i]);
  out += "], \"history\": " + seriesJson(history);
  if (withSteps)
    out += ", \"steps\": " + seriesJson(steps);
  return out + "}\n";
}

std::string logsJson(const Logs &logs) {
  std::string out = "{";
  for (size_t i = 0; i < logs.size(); ++i)
    out +=
        (i ? ", " : "") + quoted(logs[i].first) + ": " + number(logs[i].second);
  return out + "}";
}

} // namespace weft
