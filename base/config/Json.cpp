//===- Json.cpp - objects read field by field -----------------------------===//

#include "weft/base/config/Json.h"

#include <algorithm>
#include <cstdio>
#include <utility>

using namespace weft;
using namespace weft::keras;

/// The limit of nesting, which no model reaches and recursion can handle.
static constexpr int kMostLevels = 200;

/// The message without its prefix, for example without
/// "[json.exception.parse_error.101] ".
static std::string withoutPrefix(const std::string &what) {
  size_t begin = what.find("] ");
  return begin == what.npos ? what : what.substr(begin + 2);
}

/// The first control character of a text other than tabs and line ends: NUL,
/// U+001B; empty if there is none.
static std::string controlIn(const std::string &text) {
  for (size_t i = 0; i < text.size(); ++i) {
    auto code = static_cast<unsigned char>(text[i]);
    if (code == 0xc2 && i + 1 < text.size()) // U+0080 and above, in UTF-8
      code = static_cast<unsigned char>(text[i + 1]);
    else if (code >= 0x80)
      continue;
    bool isControl =
        (code < 0x20 && code != '\t' && code != '\n' && code != '\r') ||
        (code >= 0x7f && code < 0xa0);
    if (!isControl)
      continue;
    char name[8];
    std::snprintf(name, sizeof name, "U+%04X", code);
    return code ? name : "NUL";
  }
  return "";
}

namespace {
/// Finds what parseJson() refuses, without a value. (With a callback for each
/// value, nlohmann's parser takes the square of the length of an array.)
class JsonCheck final : public nlohmann::json_sax<Json> {
public:
  bool isTooDeep = false;
  /// The first of each; empty: there is none.
  std::string failure, twice, control;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool string(string_t &text) override { return checkControls(text); }
  bool start_object(size_t) override { return start(); }
  bool start_array(size_t) override { return start(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(string_t &name) override {
    if (!open.back().insert(name).second && twice.empty())
      twice = name;
    return checkControls(name);
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &its) override {
    failure = its.what();
    return false;
  }

private:
  bool start() {
    open.emplace_back();
    isTooDeep = open.size() > size_t(kMostLevels);
    return !isTooDeep;
  }
  bool end() {
    open.pop_back();
    return true;
  }
  /// Names are printed and written to files: a NUL would end the name, and
  /// others would change the terminal.
  bool checkControls(const std::string &text) {
    if (std::string name = controlIn(text); !name.empty() && control.empty())
      control = name + " in " + shortText(Json(text));
    return true;
  }

  std::vector<std::set<std::string>> open; ///< the keys of each level
};
} // namespace

weft::Result<Json> weft::keras::parseJson(std::string_view text) {
  JsonCheck check;
  Json::sax_parse(text, &check);
  if (!check.failure.empty())
    return Error{"is no JSON: " + withoutPrefix(check.failure) +
                 "; fix it there (JSON has no NaN or Infinity), or write it "
                 "again"};
  if (check.isTooDeep)
    return Error{"is nested more than " + std::to_string(kMostLevels) +
                 " levels deep; write it with Keras' to_json()"};
  if (!check.twice.empty())
    return Error{"key " + inQuotes(check.twice) +
                 " is written twice; remove one of them"};
  if (!check.control.empty())
    return Error{"holds the character " + check.control + "; remove it"};
  return Json::parse(text);
}

void weft::keras::addError(Status &status, const Message &message) {
  status = Error{status ? message : status.error().message + "\n" + message};
}

Message weft::keras::withFix(const Message &message, const char *how) {
  bool hasFix = message.text().find("; ") != std::string::npos;
  return hasFix ? message : message + "; " + how;
}

Error weft::keras::oneError(const Error &error, const char *of,
                            const char *how) {
  const std::string &all = error.message.text();
  if (all.find('\n') == all.npos)
    return {withFix(error.message, how), error.code};
  std::string out;
  size_t count = 0;
  for (size_t begin = 0, end; begin < all.size(); begin = end + 1, ++count) {
    end = std::min(all.find('\n', begin), all.size());
    out += "\n  " + withFix(all.substr(begin, end - begin), how).text();
  }
  return {std::to_string(count) + " parts of the " + of + " are refused:" + out,
          error.code};
}

std::string weft::keras::inQuotes(std::string_view text) {
  return '"' + std::string(text) + '"';
}

std::string weft::keras::shortText(const Json &value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

std::string weft::keras::listed(const std::vector<std::string> &names) {
  std::string out;
  for (const std::string &name : names)
    out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

Fields::Fields(const Json &object, std::string where, Status &status)
    : object(object), where(std::move(where)), status(status) {
  if (!object.is_object())
    refuse("expected an object, found " + shortText(object));
}

void Fields::refuse(const Message &what) {
  addError(status, where.empty() ? what : where + ": " + what);
}

const Json *Fields::find(const char *key) {
  known.insert(key);
  if (!object.is_object())
    return nullptr;
  auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json *Fields::typed(const char *key, bool (*test)(const Json &),
                          const char *wanted) {
  const Json *value = find(key);
  if (!value || test(*value))
    return value;
  refuse(inQuotes(key) + " must be " + wanted + ", not " + shortText(*value) +
         "; write it as Keras does");
  return nullptr;
}

std::string Fields::text(const char *key, std::string otherwise) {
  const Json *value =
      typed(key, [](const Json &j) { return j.is_string(); }, "a string");
  return value ? value->get<std::string>() : std::move(otherwise);
}

double Fields::number(const char *key, double otherwise) {
  number(key, &otherwise);
  return otherwise;
}

int64_t Fields::integer(const char *key, int64_t otherwise) {
  integer(key, &otherwise);
  return otherwise;
}

bool Fields::number(const char *key, double *value) {
  const Json *found =
      typed(key, [](const Json &j) { return j.is_number(); }, "a number");
  if (found)
    *value = found->get<double>();
  return found || !find(key);
}

bool Fields::integer(const char *key, int64_t *value) {
  const Json *found = typed(
      key, [](const Json &j) { return j.is_number_integer(); }, "an integer");
  if (found)
    *value = found->get<int64_t>();
  return found || !find(key);
}

bool Fields::boolean(const char *key, bool otherwise) {
  const Json *value =
      typed(key, [](const Json &j) { return j.is_boolean(); }, "true or false");
  return value ? value->get<bool>() : otherwise;
}

std::vector<int64_t> Fields::shape(const char *key) {
  auto isShape = [](const Json &value) {
    if (!value.is_array())
      return false;
    for (const Json &size : value)
      if (!size.is_null() && !size.is_number_integer())
        return false;
    return true;
  };
  std::vector<int64_t> out;
  if (const Json *value = typed(key, isShape, "a list of sizes"))
    for (const Json &size : *value)
      out.push_back(size.is_null() ? -1 : size.get<int64_t>());
  return out;
}

void Fields::accept(std::initializer_list<const char *> keys) {
  known.insert(keys.begin(), keys.end());
}

void Fields::expectUnset(const char *key, const Json &otherwise,
                         const Message &what) {
  const Json *value = find(key);
  if (!value || *value == otherwise || *value == Json(false) ||
      (value->is_number() && value->get<double>() == 0))
    return;
  refuse(inQuotes(key) + " = " + shortText(*value) + " is not supported" +
         (what.empty() ? what : " (" + what + ")") + "; leave it at " +
         shortText(otherwise));
}

void Fields::finish() {
  if (!object.is_object())
    return;
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (known.count(it.key()))
      continue;
    std::string meant = closestName(it.key(), known);
    refuse("unknown field " + inQuotes(it.key()) +
           (meant.empty() ? "" : ", did you mean " + inQuotes(meant) + "?") +
           "; known fields are " + listed({known.begin(), known.end()}));
  }
}
