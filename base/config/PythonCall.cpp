//===- PythonCall.cpp - EarlyStopping(patience=3) as JSON -----------------===//

#include "weft/base/config/PythonCall.h"

#include <charconv>

namespace weft {

using keras::Json;

namespace {

constexpr int kDeepest = 32;

/// Reads a subset of Python: calls, lists, dicts, texts, numbers, True, False
/// and None. The first error is kept.
class PythonReader {
public:
  explicit PythonReader(const std::string &text) : text(text) {}

  Result<Json> read() {
    Json out = value(0);
    skipSpace();
    if (error.empty() && at != text.size())
      expected("the end");
    if (!error.empty())
      return Error{error};
    return out;
  }

private:
  void skipSpace() {
    while (at < text.size() &&
           std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  void expected(const std::string &what) {
    if (error.empty())
      error = "column " + std::to_string(at + 1) + ": expected " + what +
              ", found " +
              (at < text.size() ? "'" + text.substr(at, 10) + "'" : "the end");
  }
  std::string word() {
    skipSpace();
    size_t begin = at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) ||
            text[at] == '_' || text[at] == '.'))
      ++at;
    return text.substr(begin, at - begin);
  }

  Json quoted(char quote) {
    std::string out;
    while (at < text.size() && text[at] != quote) {
      if (text[at] == '\\' && at + 1 < text.size())
        ++at;
      out += text[at++];
    }
    if (!take(quote))
      expected(std::string("the closing ") + quote);
    return out;
  }

  Json number() {
    const char *begin = text.data() + at, *end = text.data() + text.size();
    int64_t integer = 0;
    double real = 0;
    bool hasPlus = begin < end && *begin == '+';
    begin += hasPlus;
    auto asInteger = std::from_chars(begin, end, integer);
    auto asReal = std::from_chars(begin, end, real);
    if (asReal.ec != std::errc()) {
      expected("a value");
      return {};
    }
    at = size_t(asReal.ptr - text.data());
    bool isInteger = asInteger.ec == std::errc() && asInteger.ptr == asReal.ptr;
    return isInteger ? Json(integer) : Json(real);
  }

  Json list(int depth) {
    Json out = Json::array();
    while (error.empty() && !take(']')) {
      out.push_back(value(depth));
      if (!take(',') && at < text.size() && text[at] != ']')
        expected("',' or ']'");
    }
    return out;
  }

  Json dict(int depth) {
    Json out = Json::object();
    while (error.empty() && !take('}')) {
      Json key = value(depth);
      if (!take(':'))
        expected("':'");
      out[key.is_string() ? key.get<std::string>() : key.dump()] = value(depth);
      skipSpace();
      if (!take(',') && at < text.size() && text[at] != '}')
        expected("',' or '}'");
    }
    return out;
  }

  Json call(const std::string &name, int depth) {
    Json config = Json::object();
    int unnamed = 0;
    while (error.empty() && !take(')')) {
      skipSpace();
      size_t begin = at;
      std::string key = word();
      bool isNamed = !key.empty() && take('=');
      if (!isNamed) {
        at = begin;
        key = std::to_string(unnamed++);
      }
      config[key] = value(depth);
      skipSpace();
      if (!take(',') && at < text.size() && text[at] != ')')
        expected("',' or ')'");
    }
    size_t dot = name.rfind('.');
    return {{"class_name", dot == name.npos ? name : name.substr(dot + 1)},
            {"config", std::move(config)}};
  }

  Json value(int depth) {
    skipSpace();
    if (depth > kDeepest || at >= text.size()) {
      expected(depth > kDeepest ? "less depth" : "a value");
      return {};
    }
    char c = text[at];
    if (c == '"' || c == '\'') {
      ++at;
      return quoted(c);
    }
    if (take('['))
      return list(depth + 1);
    if (take('{'))
      return dict(depth + 1);
    if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_')
      return number();
    std::string name = word();
    if (take('('))
      return call(name, depth + 1);
    if (name == "True" || name == "true")
      return true;
    if (name == "False" || name == "false")
      return false;
    if (name != "None" && name != "null") {
      at -= name.size();
      expected("a value");
    }
    return {};
  }

  const std::string &text;
  size_t at = 0;
  std::string error;
};

/// Whether the text is UTF-8, as JSON requires.
bool isUtf8(const std::string &text) {
  std::string literal = "\"";
  for (char c : text)
    literal +=
        c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32 ? ' ' : c;
  return Json::accept(literal + "\"");
}

} // namespace

Result<Json> readPythonCall(const std::string &text) {
  if (!isUtf8(text))
    return Error{"is no text in UTF-8"};
  if (text.find_first_of("({") == text.npos) // a name without "()"
    return readPythonCall(text + "()");
  return PythonReader(text).read();
}

} // namespace weft
