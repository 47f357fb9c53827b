//===- CpuTarget.h - the processor that kernels are compiled for ----------===//
//
//   auto target = weft::CpuTarget::fromName("cpu:avx2");   // or ::host()
//   target->name  "cpu:avx2", target->cpu "x86-64-v3", 8 float lanes
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_CPUTARGET_H
#define WEFT_COMPILER_CODEGEN_CPU_CPUTARGET_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

struct CpuTarget {
  std::string name;          ///< cpu:avx512, cpu:avx2, cpu:generic, cpu:neon
  std::string triple;        ///< x86_64-pc-linux-gnu
  std::string cpu;           ///< LLVM's name of the processor: x86-64-v4
  std::string features;      ///< LLVM's feature string
  unsigned vectorBytes = 16; ///< bytes of the widest register
  bool hasFma = false;
  /// Whether it multiplies bytes and adds four products at once (AVX512-VNNI).
  /// Only the host is known to: code that uses it needs
  /// WEFT_FEATURE_AVX512_VNNI, too.
  bool hasByteProducts = false;
  /// WEFT_FEATURE_* bits of weft.h that the kernels need.
  uint64_t runtimeFeatures = 0;

  /// The best of the named targets that this machine can run.
  static CpuTarget host();
  /// The target named `cpu`, `cpu:host` or as above; nothing for another name,
  /// or for a target of another architecture than this machine's.
  static std::optional<CpuTarget> fromName(llvm::StringRef name);
};

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_CPU_CPUTARGET_H
