//===- Patterns.h - regular expressions of Python ----------------*- C++ -*-===//
//
//   Patterns patterns(RegexMode::FullMatch, "layout_map ");
//   patterns.match("d1/.*", "d1/kernel", error)   true
//   patterns.match("d1/(", "d1/kernel", error)    false, and an error
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_PATTERNS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_PATTERNS_H

#include <memory>
#include <string>

namespace weft::keras {

/// The function by which a key matches a path that it does not equal:
/// re.fullmatch (Keras since 3.14), re.search (before), or re.match, where the
/// first key wins (DTensor).
enum class RegexMode { FullMatch, Search, FirstMatch };

/// Patterns, each compiled once.
class Patterns {
public:
  /// Messages begin with `where`.
  Patterns(RegexMode mode, std::string where);
  ~Patterns();

  /// Whether the pattern matches in this mode; sets `error` if it is invalid.
  bool match(const std::string &pattern, const std::string &path,
             std::string &error);

private:
  struct Compiled;
  struct State;
  Compiled &get(const std::string &pattern);

  RegexMode mode;
  std::string where;
  std::unique_ptr<State> state;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_PATTERNS_H
