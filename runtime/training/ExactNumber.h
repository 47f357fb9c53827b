//===- ExactNumber.h - numbers that survive JSON ----------------*- C++ -*-===//
//
//   exactNumber(0.1)           // 0.1, which reads back to the same double
//   exactNumber(NAN)           // "nan": JSON has no such number
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_TRAINING_EXACTNUMBER_H
#define WEFT_RUNTIME_TRAINING_EXACTNUMBER_H

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

/// 0 for what is no number.
inline double exactNumber(const nlohmann::json &said) {
  if (said.is_string())
    return std::strtod(said.get<std::string>().c_str(), nullptr);
  return said.is_number() ? said.get<double>() : 0;
}

} // namespace weft

#endif // WEFT_RUNTIME_TRAINING_EXACTNUMBER_H
