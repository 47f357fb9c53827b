#include "weft/training/History.h"

#include "weft/training/ExactNumber.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

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

std::string valueJson(const LogValue &value) {
  if (!value.list())
    return number(value.shown());
  std::string out;
  for (float each : *value.list())
    out += (out.empty() ? "" : ", ") + number(each);
  return "[" + out + "]";
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
      out += (k ? ", " : "") + valueJson(series[i].second[k]);
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

nlohmann::json History::save() const {
  auto saved = [](const Series &series) {
    auto out = nlohmann::json::array();
    for (const auto &[name, values] : series) {
      auto numbers = nlohmann::json::array();
      for (const LogValue &value : values)
        numbers.push_back(exactValue(value));
      out.push_back({name, numbers});
    }
    return out;
  };
  return {{"epoch", epoch},
          {"history", saved(history)},
          {"steps", saved(steps)},
          {"count", stepCount}};
}

static bool readSeries(const nlohmann::json &said, History::Series &series) {
  series.clear();
  for (const auto &entry : said) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() ||
        !entry[1].is_array())
      return false;
    series.push_back({entry[0].get<std::string>(), {}});
    for (const auto &value : entry[1])
      series.back().second.push_back(exactValue(value));
  }
  return said.is_array();
}

bool History::resume(const nlohmann::json &said) {
  if (!said.is_object() || !said.contains("epoch") ||
      !said.contains("history") || !said.contains("steps") ||
      !said.contains("count") || !said["count"].is_number_integer() ||
      !said["epoch"].is_array())
    return false;
  stepCount = said["count"].get<int64_t>();
  epoch.clear();
  for (const auto &number : said["epoch"])
    epoch.push_back(number.is_number_integer() ? number.get<int64_t>() : 0);
  return readSeries(said["history"], history) &&
         readSeries(said["steps"], steps);
}

std::string logsJson(const Logs &logs) {
  std::string out = "{";
  for (size_t i = 0; i < logs.size(); ++i)
    out += (i ? ", " : "") + quoted(logs[i].first) + ": " +
           valueJson(logs[i].second);
  return out + "}";
}

std::string plainText(const LogValue &value) {
  auto digits = [](double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", number);
    return std::string(text);
  };
  if (!value.list())
    return digits(value.shown());
  std::string out;
  for (float each : *value.list())
    out += (out.empty() ? "" : " ") + digits(each);
  return "[" + out + "]";
}

} // namespace weft
