//===- Patterns.h - regular expressions of Python ----------------*- C++ -*-===//
//
//   Patterns patterns(RegexMode::FullMatch, "layout_map ");
//   patterns.match("d1/.*", "d1/kernel", error)   true
//   patterns.match("d1/(", "d1/kernel", error)    false, and an error
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_PATTERNS_H
#define WEFT_BASE_CONFIG_PATTERNS_H

#include "weft/base/Result.h"

#include <memory>
#include <string>

namespace weft::keras {

/// The rule by which a key matches a path that is not equal to it: re.fullmatch
/// (Keras since 3.14), re.search (Keras before), or re.match with precedence of
/// the first key (DTensor).
enum class RegexMode { FullMatch, Search, FirstMatch };

/// Matches patterns, each of which is compiled once.
class Patterns {
public:
  /// Messages of invalid patterns start with `where`.
  Patterns(RegexMode mode, std::string where);
  ~Patterns();

  /// Whether the pattern matches in this mode; sets an error if it is invalid,
  /// or matching is given up.
  bool match(const std::string &pattern, const std::string &path,
             Status &status);

private:
  struct Compiled;
  struct State;
  Compiled &get(const std::string &pattern);

  RegexMode mode;
  std::string where;
  std::unique_ptr<State> state;
};

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_PATTERNS_H
