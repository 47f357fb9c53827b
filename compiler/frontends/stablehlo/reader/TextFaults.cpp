//===- TextFaults.cpp - text that would crash MLIR's parser ---------------===//

#include "weft/compiler/frontends/stablehlo/reader/TextFaults.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace llvm;
using namespace weft::stablehlo;

namespace {
/// One walk over the tokens of a text, as MLIR's lexer finds them.
class TextScan {
public:
  explicit TextScan(StringRef text) : text(text) {}
  std::optional<TextFault> run();

private:
  void skipSpace();
  void skipString();
  StringRef takeWord(StringRef others = "_$.");
  std::optional<TextFault> countBracket();
  std::optional<TextFault> checkArray();
  std::optional<TextFault> checkResultNumber();

  bool starts(StringRef token) const {
    return text.substr(at).starts_with(token);
  }
  bool isEnd() const { return at >= text.size(); }

  StringRef text;
  size_t at = 0;
  int depth = 0;
  /// For each value, one more than the greatest number of a result.
  StringMap<uint64_t> results;
  uint64_t allResults = 0;
};
} // namespace

/// Skips white space and comments.
void TextScan::skipSpace() {
  while (!isEnd()) {
    if (isSpace(text[at]))
      ++at;
    else if (starts("//"))
      at = std::min(text.find('\n', at), text.size());
    else
      return;
  }
}

/// Skips a string, which has no line breaks.
void TextScan::skipString() {
  for (++at; !isEnd() && text[at] != '\n'; ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"') {
      ++at;
      return;
    }
  }
}

/// Takes letters, digits and these other characters.
StringRef TextScan::takeWord(StringRef others) {
  StringRef word = text.substr(at).take_while(
      [&](char c) { return isAlnum(c) || others.contains(c); });
  at += word.size();
  return word;
}

std::optional<TextFault> TextScan::countBracket() {
  constexpr int kDeepest = 256;
  char c = text[at];
  if (StringRef("([{<").contains(c))
    ++depth;
  else
    depth -= depth > 0 && !(c == '>' && at > 0 && text[at - 1] == '-');
  if (depth > kDeepest)
    return TextFault{at, "brackets are nested more than " +
                             std::to_string(kDeepest) + " deep"};
  ++at;
  return std::nullopt;
}

/// Checks the element type after the word `array`.
std::optional<TextFault> TextScan::checkArray() {
  skipSpace();
  if (!starts("<"))
    return std::nullopt;
  if (auto fault = countBracket())
    return fault;
  skipSpace();
  size_t begin = at;
  bool isAlias = starts("!");
  if (isAlias || takeWord() == "index")
    return TextFault{begin, "an array of " +
                                std::string(isAlias ? "an alias" : "index") +
                                " crashes MLIR's parser; write its elements "
                                "as i64, array<i64: 1>"};
  return std::nullopt;
}

/// Checks the number of a result after a value's name: %a#1. A text has the
/// type of each result, so that it has fewer results than characters.
std::optional<TextFault> TextScan::checkResultNumber() {
  ++at; // %
  StringRef name = takeWord("_$.-");
  skipSpace();
  if (!starts("#") || at + 1 == text.size() || !isDigit(text[at + 1]))
    return std::nullopt;
  size_t begin = at++;
  uint64_t number = 0;
  StringRef digits = text.substr(at).take_while(isDigit);
  at += digits.size();
  bool isKnown = !digits.getAsInteger(10, number) && number < text.size();
  if (isKnown) {
    uint64_t &known = results[name];
    allResults += std::max(known, number + 1) - known;
    known = std::max(known, number + 1);
  }
  if (!isKnown || allResults > text.size())
    return TextFault{begin, "%" + name.str() + "#" + digits.str() +
                                " is beyond the results of a text of " +
                                std::to_string(text.size()) +
                                " characters; number them from 0"};
  return std::nullopt;
}

std::optional<TextFault> TextScan::run() {
  for (skipSpace(); !isEnd(); skipSpace()) {
    std::optional<TextFault> fault;
    char c = text[at];
    if (c == '"')
      skipString();
    else if (StringRef("([{<)]}>").contains(c))
      fault = countBracket();
    else if (c == '%')
      fault = checkResultNumber();
    else if (isAlpha(c) || c == '_')
      fault = takeWord() == "array" ? checkArray() : std::nullopt;
    else if (++at; StringRef("#!@^").contains(c))
      takeWord("_$.-"); // a name
    if (fault)
      return fault;
  }
  return std::nullopt;
}

std::optional<TextFault> weft::stablehlo::findTextFault(StringRef text) {
  return TextScan(text).run();
}

std::pair<unsigned, unsigned> weft::stablehlo::placeOf(StringRef text,
                                                       size_t offset) {
  StringRef before = text.take_front(offset);
  size_t begin = before.rfind('\n');
  return {unsigned(before.count('\n') + 1),
          unsigned(begin == StringRef::npos ? offset + 1 : offset - begin)};
}
