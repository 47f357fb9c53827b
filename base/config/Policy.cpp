//===- Policy.cpp - the policies of Keras by name -------------------------===//

#include "weft/base/config/Policy.h"

#include <charconv>

using namespace weft::keras;

/// The whole text as an integer.
static std::optional<int64_t> integerOf(const std::string &text) {
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  bool isInteger = error == std::errc() && end == text.data() + text.size();
  return isInteger ? std::optional(value) : std::nullopt;
}

/// The mode in front of _from_: int8, int4, int4/GROUP, float8, gptq/BITS/GROUP
/// or awq/4/GROUP. A group of -1 is a whole column.
static std::optional<Quantization> modeOf(const std::string &text) {
  if (text == "int8" || text == "int4" || text == "float8")
    return Quantization{text, text == "int4" ? 4 : 8, 0};
  size_t first = text.find('/'), last = text.rfind('/');
  if (first == text.npos)
    return std::nullopt;
  Quantization out{text.substr(0, first), 4, 0};
  std::optional<int64_t> group = integerOf(text.substr(last + 1));
  bool hasBits = first != last;
  if (!group || *group < -1 || *group == 0 ||
      hasBits != (out.mode == "gptq" || out.mode == "awq") ||
      (!hasBits && out.mode != "int4"))
    return std::nullopt;
  out.group = *group == -1 ? 0 : *group;
  if (!hasBits)
    return out;
  std::optional<int64_t> bits =
      integerOf(text.substr(first + 1, last - first - 1));
  bool isKnown =
      bits && (*bits == 4 || (out.mode == "gptq" &&
                              (*bits == 2 || *bits == 3 || *bits == 8)));
  if (!isKnown)
    return std::nullopt;
  out.bits = *bits;
  return out;
}

std::optional<Policy> Policy::named(const std::string &name) {
  constexpr std::string_view from = "_from_";
  if (size_t at = name.find(from); at != name.npos) {
    std::optional<Quantization> mode = modeOf(name.substr(0, at));
    std::optional<Policy> source = named(name.substr(at + from.size()));
    // Keras has no int8 that computes in float16.
    bool isRefused = !mode || !source || source->quantization ||
                     (mode->mode == "int8" && source->compute == "float16");
    if (isRefused)
      return std::nullopt;
    source->quantization = mode;
    return source;
  }
  if (name == "mixed_bfloat16")
    return Policy{"float32", "bfloat16"};
  if (name == "mixed_float16")
    return Policy{"float32", "float16"};
  if (name == "bfloat16" || name == "float16")
    return Policy{name, name};
  if (name == "float32" || name == "float64")
    return Policy{};
  return std::nullopt;
}

std::vector<std::string> Policy::names() {
  return {"float32",  "float64",       "mixed_bfloat16",
          "bfloat16", "mixed_float16", "float16"};
}
