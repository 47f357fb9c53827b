#include "weft/training/callbacks/PythonText.h"

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
    return out; // C++ and Python write at least two exponent digits
  auto fixed =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed);
  out.assign(text, fixed.ptr);
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

Result<PythonPattern::Segment> PythonPattern::field(const std::string &inside) {
  Segment segment;
  size_t colon = inside.find(':');
  segment.name = inside.substr(0, colon);
  std::string format = colon == inside.npos ? "" : inside.substr(colon + 1);
  Error wrong{"{" + inside +
              "} is no field; write {epoch}, {epoch:02d} or {val_loss:.2f}"};
  bool isName =
      !segment.name.empty() &&
      std::all_of(segment.name.begin(), segment.name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
      });
  if (!isName)
    return wrong;
  size_t at = 0;
  segment.zeros = format.starts_with('0');
  for (; at < format.size() && isDigit(format[at]) && segment.width < 100; ++at)
    segment.width = segment.width * 10 + (format[at] - '0');
  if (at < format.size() && format[at] == '.') {
    segment.precision = 0;
    for (++at;
         at < format.size() && isDigit(format[at]) && segment.precision < 50;
         ++at)
      segment.precision = segment.precision * 10 + (format[at] - '0');
  }
  if (at < format.size() &&
      std::string("dfeg").find(format[at]) != std::string::npos)
    segment.kind = format[at++];
  bool fits = at == format.size() && segment.width <= 200 &&
              segment.precision <= 50 &&
              (segment.kind != 'd' || segment.precision < 0) &&
              (segment.kind != 0 || segment.precision < 0);
  // d is for integers only, as in Python: metrics are floats.
  if (segment.kind == 'd' && segment.name != "epoch" && segment.name != "batch")
    return Error{"{" + inside +
                 "}: only epoch and batch are whole numbers; "
                 "write {" +
                 segment.name + ":.2f}"};
  if (!fits)
    return wrong;
  return segment;
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
      Result<Segment> segment = field(text.substr(at + 1, end - at - 1));
      if (!segment)
        return segment.error();
      out.segments.push_back({.text = plain, .name = ""});
      plain.clear();
      out.segments.push_back(std::move(*segment));
      at = end;
    } else if (c == '}') {
      return Error{"a brace closes nothing; write }} for a brace itself"};
    } else {
      plain += c;
    }
  }
  out.segments.push_back({.text = plain, .name = ""});
  return out;
}

std::vector<std::string> PythonPattern::names() const {
  std::vector<std::string> out;
  for (const Segment &segment : segments)
    if (!segment.name.empty())
      out.push_back(segment.name);
  return out;
}

std::string PythonPattern::number(const Segment &segment, double value) {
  char text[512];
  bool isInteger = segment.name == "epoch" || segment.name == "batch";
  std::string out;
  if (segment.kind == 'd' || (segment.kind == 0 && isInteger)) {
    out = std::to_string(int64_t(value));
  } else if (segment.kind == 0 || !std::isfinite(value)) {
    out = pythonText(value);
  } else {
    char format[] = {'%', '.', '*', segment.kind, 0};
    int precision = segment.precision < 0 ? 6 : segment.precision;
    int length = std::snprintf(text, sizeof text, format, precision, value);
    out.assign(text, std::min<size_t>(length, sizeof text - 1));
  }
  if (int(out.size()) < segment.width) {
    size_t sign = segment.zeros && out.starts_with('-') ? 1 : 0;
    out.insert(sign, size_t(segment.width) - out.size(),
               segment.zeros ? '0' : ' ');
  }
  return out;
}

std::string
PythonPattern::fill(const std::map<std::string, double> &values) const {
  std::string out;
  for (const Segment &segment : segments) {
    auto found = values.find(segment.name);
    out += segment.name.empty()
               ? segment.text
               : number(segment, found == values.end() ? 0 : found->second);
  }
  return out;
}

} // namespace weft
