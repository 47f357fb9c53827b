//===- ProgramFile.h - checks of a .weft image before dlopen ----*- C++ -*-===//
//
// runtime/abi/ProgramImage.h writes the image; openImage finds its parts
// again and refuses what is cut, altered, newer or foreign: a mapped ELF that
// is shorter than its headers say ends in SIGBUS, not in an error.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_PROGRAMFILE_H
#define WEFT_RUNTIME_PROGRAM_PROGRAMFILE_H

#include "weft/runtime/program/Error.h"

#include <cstdint>
#include <span>

namespace weft::runtime {

struct ProgramParts {
  std::span<const uint8_t> elf, plan;
  uint64_t hash = 0; ///< of the whole file
};

/// Checks trailer, ABI, CPU features, hash and the ELF header. `image` must
/// outlive `out`.
Error openImage(std::span<const uint8_t> image, ProgramParts &out);

/// The bits of WEFT_FEATURE_* this processor has.
uint64_t hostFeatures();

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_PROGRAMFILE_H
