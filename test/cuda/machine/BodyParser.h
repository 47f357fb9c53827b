//===- BodyParser.h - declarations and statements of a kernel ---*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_MACHINE_BODYPARSER_H
#define WEFT_TEST_CUDA_MACHINE_BODYPARSER_H

#include "weft/test/cuda/machine/Decoder.h"
#include "weft/test/cuda/machine/Tokens.h"

namespace weft::ptx {

/// A declaration such as `.align 64 .b8 name[8]`, `.u64 .ptr .global .align 1
/// name`.
struct Declaration {
  std::string name;
  Type type = Type::None;
  uint64_t count = 1, alignment = 1;
  bool isOpen = false; ///< `name[]`
  uint64_t bytes() const { return isOpen ? 0 : count * bytesOf(type); }
};

/// Takes tokens from the front; the first error is kept.
class TokenReader {
public:
  explicit TokenReader(const std::vector<Token> &tokens) : tokens(&tokens) {}

  std::string error;

  const Token &look(size_t ahead = 0) const {
    return (*tokens)[std::min(at + ahead, tokens->size() - 1)];
  }
  Token take();
  bool takeIf(std::string_view text);
  void expect(std::string_view text);
  void fail(const std::string &what);
  Argument parseNumber();
  Argument parseArgument();
  Declaration parseDeclaration();

private:
  const std::vector<Token> *tokens;
  size_t at = 0;
};

class BodyParser {
public:
  BodyParser(TokenReader &reader [[clang::lifetimebound]],
             Kernel &kernel [[clang::lifetimebound]],
             const std::map<std::string, Variable> &globals)
      : reader(reader), kernel(kernel), decoder(kernel, globals) {}

  void addParameter(const Declaration &parameter);
  /// Parses from `{` to its `}`.
  void run();
  std::string failure() const { return decoder.error; }

private:
  void parseItem();
  void parseDirective(const std::string &word);
  void parseRegisters();
  void parseStatement();
  void parseBranchTargets(const std::string &name);

  TokenReader &reader;
  Kernel &kernel;
  Decoder decoder;
  std::map<std::string, uint32_t> labels;
  unsigned depth = 0;
};

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_BODYPARSER_H
