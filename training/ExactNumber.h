//===- ExactNumber.h - numbers that survive JSON ----------------*- C++ -*-===//
//
//   exactNumber(0.1)           // 0.1, which reads back to the same double
//   exactNumber(NAN)           // "nan": JSON has no such number
//   exactValue(LogValue({0.5f, 1.0f}))    // [0.5, 1.0]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_EXACTNUMBER_H
#define WEFT_TRAINING_EXACTNUMBER_H

#include "weft/training/LogValue.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

namespace weft {

inline nlohmann::json exactNumber(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// Parses a number that exactNumber() made, or one in a text; 0 for other
/// values.
inline double exactNumber(const nlohmann::json &said) {
  if (said.is_string())
    return std::strtod(said.get<std::string>().c_str(), nullptr);
  return said.is_number() ? said.get<double>() : 0;
}

inline nlohmann::json exactValue(const LogValue &value) {
  if (!value.list())
    return exactNumber(value.shown());
  auto out = nlohmann::json::array();
  for (float each : *value.list())
    out.push_back(exactNumber(each));
  return out;
}

inline LogValue exactValue(const nlohmann::json &said) {
  if (!said.is_array())
    return exactNumber(said);
  std::vector<float> numbers;
  for (const auto &each : said)
    numbers.push_back(float(exactNumber(each)));
  return LogValue(std::move(numbers));
}

} // namespace weft

#endif // WEFT_TRAINING_EXACTNUMBER_H
