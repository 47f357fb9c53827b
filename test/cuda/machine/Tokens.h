//===- Tokens.h - the words of a PTX text -----------------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_MACHINE_TOKENS_H
#define WEFT_TEST_CUDA_MACHINE_TOKENS_H

#include <string>
#include <string_view>
#include <vector>

namespace weft::ptx {

struct Token {
  enum Kind { Word, Number, String, Sign, End } kind = End;
  std::string_view text; ///< `fma.rn.f32`, `%r1`, `0f3F800000`, `{`
  unsigned line = 0;
};

/// Splits a text into tokens without comments; the last is End.
std::string tokenize(std::string_view text, std::vector<Token> &tokens);

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_TOKENS_H
