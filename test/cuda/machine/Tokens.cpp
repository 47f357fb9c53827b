//===- Tokens.cpp - the words of a PTX text -------------------------------===//

#include "weft/test/cuda/machine/Tokens.h"

namespace weft::ptx {

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}
static bool isDigit(char c) { return c >= '0' && c <= '9'; }

namespace {
class Tokenizer {
public:
  Tokenizer(std::string_view text,
            std::vector<Token> &tokens [[clang::lifetimebound]])
      : text(text), tokens(tokens) {}

  std::string run() {
    for (skipBlanks(); at < text.size() && error.empty(); skipBlanks())
      next();
    tokens.push_back({Token::End, "the end", line});
    return error;
  }

private:
  char look(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }
  void skipBlanks() {
    while (at < text.size()) {
      if (look() == '/' && look(1) == '/')
        at = std::min(text.find('\n', at), text.size());
      else if (look() == '/' && look(1) == '*')
        skipComment();
      else if (look() == ' ' || look() == '\t' || look() == '\r')
        ++at;
      else if (look() == '\n')
        ++at, ++line;
      else
        return;
    }
  }
  void skipComment() {
    size_t end = std::min(text.find("*/", at + 2), text.size());
    for (; at < end; ++at)
      line += text[at] == '\n';
    at = std::min(end + 2, text.size());
  }
  /// Reads the next token. A word may contain `::`, as `.shared::cta`; the `:`
  /// of a label is a token.
  void next() {
    size_t start = at;
    auto take = [&](Token::Kind kind) {
      tokens.push_back({kind, text.substr(start, at - start), line});
    };
    if (isLetter(look()) || (look() == '.' && isLetter(look(1)))) {
      for (++at;; ++at)
        if (look() == ':' && look(1) == ':')
          ++at;
        else if (!isLetter(look()) && !isDigit(look()) && look() != '.')
          break;
      return take(Token::Word);
    }
    if (isDigit(look())) {
      while (isLetter(look()) || isDigit(look()) || look() == '.')
        ++at;
      return take(Token::Number);
    }
    if (look() == '"') {
      size_t end = text.find('"', at + 1);
      if (end == std::string_view::npos) {
        error = "line " + std::to_string(line) + ": a string without an end";
        return;
      }
      at = end + 1;
      return take(Token::String);
    }
    if (std::string_view("{}[](),;:@!|+-=<>").find(look()) ==
        std::string_view::npos) {
      error = "line " + std::to_string(line) + ": character '" + look() +
              "' has no place in PTX";
      return;
    }
    ++at;
    take(Token::Sign);
  }

  std::string_view text;
  std::vector<Token> &tokens;
  size_t at = 0;
  unsigned line = 1;
  std::string error;
};
} // namespace

std::string tokenize(std::string_view text, std::vector<Token> &tokens) {
  return Tokenizer(text, tokens).run();
}

} // namespace weft::ptx
