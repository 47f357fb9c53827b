//===- Compiler.h - from JAX's bytes to a program image --------*- C++ -*-===//
//
// The only part of the plugin that sees MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_COMPILER_H
#define WEFT_TOOLS_PJRT_COMPILER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::pjrt {

struct CompiledImage {
  std::vector<uint8_t> bytes; ///< of a .weft file; empty after an error
  std::string name;           ///< of the program: jit_f
  std::string error;          ///< with the place in the user's script
  std::string explanation;    ///< where WEFT_EXPLAIN asks for it
  double seconds = 0;         ///< what compiling took
};

CompiledImage compileImage(std::string_view code, int64_t partitions);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_COMPILER_H
