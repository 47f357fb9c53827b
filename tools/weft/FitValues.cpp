#include "weft/tools/weft/FitValues.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

using namespace weft;
using namespace weft::tool;
using nlohmann::json;

template <typename Number>
static bool readNumber(std::string_view text, Number &value) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  const char *end = text.data() + text.size();
  auto [read, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && read == end;
}

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

Result<Shuffle> weft::tool::readShuffle(const std::string &text) {
  if (text == "true" || text == "True")
    return Shuffle::All;
  if (text == "false" || text == "False")
    return Shuffle::None;
  if (text == "batch")
    return Shuffle::InBatches;
  return Error{"must be true, false or batch, not " + text};
}

/// Parses 0:1.0,1:2.5 to an object.
static json classesOf(const std::string &text) {
  json out = json::object();
  for (const std::string &part : split(text)) {
    size_t colon = part.find(':');
    double weight = 0;
    if (colon == part.npos || !readNumber(part.substr(colon + 1), weight))
      return {};
    out[part.substr(0, colon)] = weight;
  }
  return out;
}

Result<std::map<int64_t, double>>
weft::tool::readClassWeight(const std::string &text) {
  Error wrong{"must name a weight for each class, as 0:1.0,1:2.5 or "
              "{\"0\": 1.0, \"1\": 2.5}, not " +
              text};
  json said = text.find('{') == text.npos
                  ? classesOf(text)
                  : json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!said.is_object() || said.empty())
    return wrong;
  std::map<int64_t, double> weights;
  for (const auto &[name, weight] : said.items()) {
    int64_t label = 0;
    if (!readNumber(name, label) || !weight.is_number() ||
        !std::isfinite(weight.get<double>()))
      return wrong;
    weights[label] = weight.get<double>();
  }
  return weights;
}

Result<ValidationEpochs>
weft::tool::readValidationEpochs(const std::string &text) {
  Error wrong{"must be a number of epochs from 1 on, or a list of "
              "epochs as 1,3,10, not " +
              text};
  bool isList = text.find_first_of(",[") != text.npos;
  std::string inside = text;
  std::erase_if(inside, [](char c) { return c == '[' || c == ']'; });
  ValidationEpochs epochs;
  for (const std::string &part : split(inside)) {
    int64_t number = 0;
    if (!readNumber(part, number) || number < 1)
      return wrong;
    if (!isList)
      epochs.every = number;
    else
      epochs.listed.insert(number);
  }
  return epochs;
}

Result<uint64_t> weft::tool::readBytes(const std::string &text) {
  static const std::map<std::string, double> units = {
      {"", 1},          {"kB", 1e3},      {"MB", 1e6},
      {"GB", 1e9},      {"KiB", 1 << 10}, {"MiB", 1 << 20},
      {"GiB", 1 << 30}, {"TB", 1e12},     {"TiB", 1024.0 * (1 << 30)}};
  size_t digits = text.find_first_not_of("0123456789.");
  auto unit = units.find(digits == text.npos ? "" : text.substr(digits));
  double number = 0;
  if (unit == units.end() || !readNumber(text.substr(0, digits), number) ||
      number * unit->second > 1e18)
    return Error{"must be a size such as 256MiB, 1GB or 4096, not " + text};
  return uint64_t(number * unit->second);
}

Result<Interpolation> weft::tool::readInterpolation(const std::string &text) {
  static const std::map<std::string, Interpolation> known = {
      {"nearest", Interpolation::Nearest},
      {"bilinear", Interpolation::Bilinear},
      {"bicubic", Interpolation::Bicubic},
      {"lanczos3", Interpolation::Lanczos3},
      {"lanczos5", Interpolation::Lanczos5}};
  auto found = known.find(text);
  if (found == known.end())
    return Error{
        "must be nearest, bilinear, bicubic, lanczos3 or lanczos5, not " +
        text};
  return found->second;
}

Result<std::vector<std::string>>
weft::tool::readNames(const std::string &text) {
  std::vector<std::string> names = split(text);
  if (std::find(names.begin(), names.end(), "") != names.end())
    return Error{"must be names with commas between, not " + text};
  return names;
}
