#include "weft/runtime/training/callbacks/PythonText.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace weft {

std::string pythonText(double value) {
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  char text[64];
  auto scientific = std::to_chars(text, text + sizeof text, value,
                                  std::chars_format::scientific);
  std::string out(text, scientific.ptr);
  int exponent = std::atoi(out.c_str() + out.find('e') + 1);
  if (exponent < -4 || exponent >= 16)
    return out; // two digits of exponent at least, in both languages
  auto fixed =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed);
  out.assign(text, fixed.ptr);
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

Result<PythonPattern::Part> PythonPattern::field(const std::string &inside) {
  Part part;
  size_t colon = inside.find(':');
  part.name = inside.substr(0, colon);
  std::string format = colon == inside.npos ? "" : inside.substr(colon + 1);
  Error wrong{"{" + inside +
              "} is no field; write {epoch}, {epoch:02d} or {val_loss:.2f}"};
  bool isName =
      !part.name.empty() &&
      std::all_of(part.name.begin(), part.name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
      });
  if (!isName)
    return wrong;
  size_t at = 0;
  part.zeros = format.starts_with('0');
  for (; at < format.size() && isDigit(format[at]) && part.width < 100; ++at)
    part.width = part.width * 10 + (format[at] - '0');
  if (at < format.size() && format[at] == '.') {
    part.precision = 0;
    for (++at; at < format.size() && isDigit(format[at]) && part.precision < 50;
         ++at)
      part.precision = part.precision * 10 + (format[at] - '0');
  }
  if (at < format.size() &&
      std::string("dfeg").find(format[at]) != std::string::npos)
    part.kind = format[at++];
  bool fits = at == format.size() && part.width <= 200 &&
              part.precision <= 50 &&
              (part.kind != 'd' || part.precision < 0) &&
              (part.kind != 0 || part.precision < 0);
  // d is for integers only, as in Python: metrics are floats.
  if (part.kind == 'd' && part.name != "epoch" && part.name != "batch")
    return Error{"{" + inside +
                 "}: only epoch and batch are whole numbers; "
                 "write {" +
                 part.name + ":.2f}"};
  if (!fits)
    return wrong;
  return part;
}

Result<PythonPattern> PythonPattern::parse(const std::string &text) {
  PythonPattern out;
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    bool isDouble = at + 1 < text.size() && text[at + 1] == c;
    if ((c == '{' || c == '}') && isDouble) {
      plain += c;
      ++at;
    } else if (c == '{') {
      size_t end = text.find('}', at);
      if (end == text.npos)
        return Error{"a brace is not closed; write {{ for a brace itself"};
      Result<Part> part = field(text.substr(at + 1, end - at - 1));
      if (!part)
        return part.error();
      out.parts.push_back({.text = plain, .name = ""});
      plain.clear();
      out.parts.push_back(std::move(*part));
      at = end;
    } else if (c == '}') {
      return Error{"a brace closes nothing; write }} for a brace itself"};
    } else {
      plain += c;
    }
  }
  out.parts.push_back({.text = plain, .name = ""});
  return out;
}

std::vector<std::string> PythonPattern::names() const {
  std::vector<std::string> out;
  for (const Part &part : parts)
    if (!part.name.empty())
      out.push_back(part.name);
  return out;
}

std::string PythonPattern::number(const Part &part, double value) {
  char text[512];
  bool isWhole = part.name == "epoch" || part.name == "batch";
  std::string out;
  if (part.kind == 'd' || (part.kind == 0 && isWhole)) {
    out = std::to_string(int64_t(value));
  } else if (part.kind == 0 || !std::isfinite(value)) {
    out = pythonText(value);
  } else {
    char format[] = {'%', '.', '*', part.kind, 0};
    int precision = part.precision < 0 ? 6 : part.precision;
    int length = std::snprintf(text, sizeof text, format, precision, value);
    out.assign(text, std::min<size_t>(length, sizeof text - 1));
  }
  if (int(out.size()) < part.width) {
    size_t sign = part.zeros && out.starts_with('-') ? 1 : 0;
    out.insert(sign, size_t(part.width) - out.size(), part.zeros ? '0' : ' ');
  }
  return out;
}

std::string
PythonPattern::fill(const std::map<std::string, double> &values) const {
  std::string out;
  for (const Part &part : parts) {
    auto found = values.find(part.name);
    out += part.name.empty()
               ? part.text
               : number(part, found == values.end() ? 0 : found->second);
  }
  return out;
}

} // namespace weft
