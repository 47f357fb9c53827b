//===- ProgramImage.h - the bytes of a .weft file ---------------*- C++ -*-===//
//
// A .weft file is a shared object, then the plan, then a trailer:
//
//   [ELF: kernels][0..7 zero bytes][FlatBuffer of plan.fbs][weft_trailer]
//
//   std::vector<uint8_t> file =
//       weft::assembleProgramFile(elf, plan, WEFT_FEATURE_AVX2);
//
// `elf_bytes` counts the padding, so that the plan starts at elf_bytes and is
// aligned to 8 bytes in the file. Header only: compiler and runtime both use
// it, and know no more of the file than this, weft.h, plan.fbs and
// HostFunctions.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_PROGRAMIMAGE_H
#define WEFT_RUNTIME_ABI_PROGRAMIMAGE_H

#include "weft/base/Hash.h"
#include "weft/runtime/abi/weft.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace weft {

/// Hashes the `bytes` before a trailer, and the trailer's other fields.
inline uint64_t hashProgram(const void *data, size_t bytes,
                            weft_trailer trailer) {
  trailer.hash = hashBytes(data, bytes);
  return hashBytes(&trailer, sizeof trailer);
}

/// The image of a program file. `features` are WEFT_FEATURE_* bits.
inline std::vector<uint8_t>
assembleProgramFile(const void *elf, size_t elfBytes, const void *plan,
                    size_t planBytes, uint64_t features) {
  std::vector<uint8_t> out((elfBytes + 7) / 8 * 8);
  if (elfBytes)
    std::memcpy(out.data(), elf, elfBytes);
  weft_trailer trailer = {};
  trailer.elf_bytes = out.size();
  const auto *p = static_cast<const uint8_t *>(plan);
  out.insert(out.end(), p, p + planBytes);
  trailer.plan_bytes = planBytes;
  trailer.features = features;
  trailer.abi_version = WEFT_ABI_VERSION;
  std::memcpy(trailer.magic, "WEFTPROG", 8);
  trailer.hash = hashProgram(out.data(), out.size(), trailer);
  const auto *t = reinterpret_cast<const uint8_t *>(&trailer);
  out.insert(out.end(), t, t + sizeof trailer);
  return out;
}

template <typename Bytes, typename PlanBytes>
std::vector<uint8_t> assembleProgramFile(const Bytes &elf,
                                         const PlanBytes &plan,
                                         uint64_t features) {
  return assembleProgramFile(elf.data(), elf.size(), plan.data(), plan.size(),
                             features);
}

} // namespace weft

#endif // WEFT_RUNTIME_ABI_PROGRAMIMAGE_H
