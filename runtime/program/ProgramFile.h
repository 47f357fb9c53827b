//===- ProgramFile.h - checks of a .weft image before dlopen ----*- C++ -*-===//
//
// runtime/abi/ProgramImage.h writes the image; openImage finds its sections and
// refuses files that are truncated, altered or of another ABI version.
// checkCode checks the code before it is loaded: a mapped ELF that is shorter
// than its headers claim causes SIGBUS, not an error.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_PROGRAMFILE_H
#define WEFT_RUNTIME_PROGRAM_PROGRAMFILE_H

#include "weft/runtime/program/Error.h"

#include <cstdint>
#include <span>

namespace weft::runtime {

struct ProgramSections {
  std::span<const uint8_t> elf, plan;
  uint64_t hash = 0;     ///< hash of the whole file
  uint64_t features = 0; ///< WEFT_FEATURE_* bits that the code needs
};

/// Checks trailer, ABI and hash. `image` must outlive `out`.
Status openImage(std::span<const uint8_t> image, ProgramSections &out);
/// Checks CPU features, the ELF header and the program headers.
Status checkCode(std::span<const uint8_t> elf, uint64_t features);

/// The bits of WEFT_FEATURE_* this processor has.
uint64_t hostFeatures();

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_PROGRAMFILE_H
