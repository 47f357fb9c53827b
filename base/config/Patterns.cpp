//===- Patterns.cpp - regular expressions of Python -----------------------===//

#include "weft/base/config/Patterns.h"
#include "weft/base/config/Json.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <string_view>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace weft;
using namespace weft::keras;

static std::string pcreMessage(int code) {
  PCRE2_UCHAR text[160] = {0};
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char *>(text);
}

/// Whether the pattern has no special characters, so that it is compared as
/// text. The map of a deep model may have hundreds of plain paths as keys, each
/// of which is tried on every path.
static bool isLiteral(std::string_view pattern) {
  static constexpr std::string_view special = "\\^$.|?*+()[]{}";
  static const std::bitset<256> isSpecial = [] {
    std::bitset<256> bits;
    for (char c : special)
      bits.set(static_cast<unsigned char>(c));
    return bits;
  }();
  return std::none_of(pattern.begin(), pattern.end(), [](char c) {
    return isSpecial[static_cast<unsigned char>(c)];
  });
}

struct Patterns::Compiled {
  std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> code{nullptr,
                                                               pcre2_code_free};
  std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data{
      nullptr, pcre2_match_data_free};
  std::string refusal;
};

struct Patterns::State {
  std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)>
      context{pcre2_match_context_create(nullptr), pcre2_match_context_free};
  std::map<std::string, Compiled> known;
};

Patterns::Patterns(RegexMode mode, std::string where)
    : mode(mode), where(std::move(where)), state(std::make_unique<State>()) {
  pcre2_set_match_limit(state->context.get(), 1000000);
  pcre2_set_depth_limit(state->context.get(), 10000);
}

Patterns::~Patterns() = default;

bool Patterns::match(const std::string &pattern, const std::string &path,
                     Status &status) {
  if (isLiteral(pattern))
    return mode == RegexMode::FullMatch    ? path == pattern
           : mode == RegexMode::FirstMatch ? path.starts_with(pattern)
                                           : path.find(pattern) != path.npos;
  Compiled &compiled = get(pattern);
  if (!compiled.code) {
    status = Error{compiled.refusal};
    return false;
  }
  uint32_t anchors = mode == RegexMode::FullMatch
                         ? PCRE2_ANCHORED | PCRE2_ENDANCHORED
                     : mode == RegexMode::FirstMatch ? PCRE2_ANCHORED
                                                     : 0;
  int result =
      pcre2_match(compiled.code.get(), PCRE2_SPTR(path.data()), path.size(), 0,
                  anchors, compiled.data.get(), state->context.get());
  if (result < 0 && result != PCRE2_ERROR_NOMATCH && status)
    status = Error{where + inQuotes(pattern) + ": matching " + inQuotes(path) +
                   " was given up: " + pcreMessage(result) +
                   "; write a simpler pattern"};
  return result >= 0;
}

Patterns::Compiled &Patterns::get(const std::string &pattern) {
  auto [entry, isNew] = state->known.try_emplace(pattern);
  Compiled &compiled = entry->second;
  if (!isNew)
    return compiled;
  int code = 0;
  PCRE2_SIZE offset = 0;
  compiled.code.reset(pcre2_compile(PCRE2_SPTR(pattern.data()), pattern.size(),
                                    PCRE2_UTF, &code, &offset, nullptr));
  if (compiled.code)
    compiled.data.reset(
        pcre2_match_data_create_from_pattern(compiled.code.get(), nullptr));
  else
    compiled.refusal = where + inQuotes(pattern) +
                       ": pattern is refused at position " +
                       std::to_string(offset) + ": " + pcreMessage(code) +
                       "; write it as for Python's re";
  return compiled;
}
