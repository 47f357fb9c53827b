//===- Statement.h - one instruction as it is written -----------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_MACHINE_STATEMENT_H
#define WEFT_TEST_CUDA_MACHINE_STATEMENT_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::ptx {

/// An argument: `%r1`, `-5`, `0f3F800000`, `[%rd1+4]`, `{%r1, %r2}`, `%r1|%p1`,
/// `$L__BB0_2`.
struct Argument {
  enum Kind { Name, Number, Vector } kind = Name;
  std::string name;
  uint64_t bits = 0; ///< bits of a Number; a float's bits
  int64_t offset = 0;
  bool isAddress = false, isNegated = false;
  std::vector<Argument> parts; ///< parts of a Vector
  std::string second;          ///< after `|`
};

struct Statement {
  std::vector<std::string> words; ///< `fma`, `rn`, `f32`
  std::vector<Argument> arguments;
  std::string guard;
  bool isGuardNegated = false;
  unsigned line = 0;
};

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_STATEMENT_H
