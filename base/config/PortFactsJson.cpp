//===- PortFactsJson.cpp - facts of ports as Python writes them -----------===//

#include "weft/base/config/PortFactsJson.h"

#include "weft/base/config/Json.h"

#include <algorithm>

namespace weft {

using keras::Json;

/// Each function reads a value. If the value has another type, the function
/// returns the expected type in words; else null.
static const char *read(const Json &value, facts::Text &fact) {
  if (!value.is_string())
    return "a text";
  fact = value.get<std::string>();
  return nullptr;
}
static const char *read(const Json &value, facts::Json &fact) {
  fact.text = value.dump();
  return nullptr;
}
static const char *read(const Json &value, facts::Flag &fact) {
  if (!value.is_boolean())
    return "true or false";
  fact = value.get<bool>();
  return nullptr;
}
static const char *read(const Json &value, facts::Integer &fact) {
  if (!value.is_number_integer())
    return "a whole number";
  fact = value.get<int64_t>();
  return nullptr;
}
static const char *read(const Json &value, facts::Integers &fact) {
  if (!value.is_array() || !std::ranges::all_of(value, [](const Json &each) {
        return each.is_number_integer();
      }))
    return "a list of whole numbers";
  fact = value.get<std::vector<int64_t>>();
  return nullptr;
}
static const char *read(const Json &value, facts::Numbers &fact) {
  if (value.is_number()) {
    fact = {value.get<double>()};
    return nullptr;
  }
  if (!value.is_array() || !std::ranges::all_of(value, [](const Json &each) {
        return each.is_number();
      }))
    return "a number or a list of numbers";
  fact = value.get<std::vector<double>>();
  return nullptr;
}

Result<PortFacts> factsOfJson(std::string_view text) {
  Result<Json> object = keras::parseJson(text);
  if (!object)
    return object.error();
  if (!object->is_object())
    return Error{"is no object"};
  PortFacts out;
  for (const auto &[key, value] : object->items()) {
    if (!isFactName(key))
      return Error{keras::inQuotes(key) + " is no fact of a port; " +
                   suggestion(key,
                              {std::begin(kFactNames), std::end(kFactNames)},
                              "leave it out")};
    const char *wanted = nullptr;
    visitFacts(out, [&](std::string_view name, auto &fact) {
      if (name == key)
        wanted = read(value, fact);
    });
    if (wanted)
      return Error{keras::inQuotes(key) + " is " + keras::shortText(value) +
                   "; write " + wanted};
  }
  return out;
}

} // namespace weft
