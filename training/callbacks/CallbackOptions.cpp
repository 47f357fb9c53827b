#include "weft/training/callbacks/CallbackOptions.h"

#include "weft/base/ClosestName.h"

#include <cmath>

namespace weft {

using nlohmann::json;

std::string printed(const json &value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

const json *CallbackOptions::find(const char *name) {
  asked.emplace_back(name);
  if (!given.is_object())
    return nullptr;
  auto found = given.find(name);
  return found == given.end() ? nullptr : &*found;
}

void CallbackOptions::check(bool fits, const Message &message) {
  if (!fits && error.empty())
    error = where + ": " + message;
}

void CallbackOptions::wrong(const char *name, const std::string &must) {
  check(false, std::string("\"") + name + "\" must be " + must + ", not " +
                   printed(given[name]) + "; docs/fit.md lists its arguments");
}

void CallbackOptions::text(const char *name, std::string &value) {
  const json *said = find(name);
  if (!said)
    return;
  if (!said->is_string())
    return wrong(name, "a text");
  value = said->get<std::string>();
}

void CallbackOptions::output(const char *name, std::string &value) {
  outputs.emplace_back(name);
  text(name, value);
}

json CallbackOptions::settings() const {
  json out = given;
  for (const std::string &name : outputs)
    out.erase(name);
  return out;
}

void CallbackOptions::choice(const char *name, std::string &value,
                             const std::set<std::string> &known) {
  text(name, value);
  if (!known.contains(value))
    wrong(name, "one of " + listOf(known));
}

void CallbackOptions::number(const char *name, double &value) {
  const json *said = find(name);
  if (!said)
    return;
  if (!said->is_number() || !std::isfinite(said->get<double>()))
    return wrong(name, "a finite number");
  value = said->get<double>();
}

void CallbackOptions::number(const char *name, std::optional<double> &value) {
  const json *said = find(name);
  if (!said || said->is_null())
    return;
  if (!said->is_number() || !std::isfinite(said->get<double>()))
    return wrong(name, "a finite number or null");
  value = said->get<double>();
}

void CallbackOptions::numbers(const char *name, std::vector<double> &values) {
  const json *said = find(name);
  if (!said)
    return;
  values.clear();
  for (const json &value : *said)
    if (value.is_number() && std::isfinite(value.get<double>()))
      values.push_back(value.get<double>());
  if (!said->is_array() || values.size() != said->size())
    wrong(name, "a list of finite numbers");
}

void CallbackOptions::integer(const char *name, int64_t &value, int64_t least) {
  const json *said = find(name);
  if (!said)
    return;
  bool isThere = said->is_number_integer() &&
                 !(said->is_number_unsigned() &&
                   said->get<uint64_t>() > uint64_t(INT64_MAX));
  if (!isThere || said->get<int64_t>() < least)
    return wrong(name, "a whole number from " + std::to_string(least) + " on");
  value = said->get<int64_t>();
}

void CallbackOptions::flag(const char *name, bool &value) {
  const json *said = find(name);
  if (!said)
    return;
  if (!said->is_boolean())
    return wrong(name, "true or false");
  value = said->get<bool>();
}

void CallbackOptions::frequency(const char *name, int64_t &every) {
  const json *said = find(name);
  if (!said || *said == "epoch") {
    every = 0;
    return;
  }
  bool fits = said->is_number_integer() && said->get<int64_t>() > 0;
  if (!fits)
    return wrong(name, "\"epoch\" or a number of batches from 1 on");
  every = said->get<int64_t>();
}

const json *CallbackOptions::any(const char *name) { return find(name); }

void CallbackOptions::required(const char *name) {
  check(given.contains(name),
        std::string("needs \"") + name + "\"; add it to its arguments");
}

void CallbackOptions::refused(const char *name, const json &usual,
                              const Message &how) {
  const json *said = find(name);
  check(!said || *said == usual, std::string("\"") + name +
                                     "\": " + (said ? printed(*said) : "") +
                                     " is not supported; " + how);
}

Status CallbackOptions::finish() {
  check(given.is_object(), "its arguments are no object: " + printed(given));
  if (!given.is_object())
    return Error{error};
  std::set<std::string> known(asked.begin(), asked.end());
  for (const auto &[name, value] : given.items()) {
    if (known.contains(name))
      continue;
    std::string meant = closestName(name, known);
    check(false, "has no argument \"" + name + "\"; " +
                     (meant.empty() ? "it has " + listOf(asked)
                                    : "did you mean \"" + meant + "\"?"));
  }
  return error.empty() ? Status{} : Status{Error{error}};
}

} // namespace weft
