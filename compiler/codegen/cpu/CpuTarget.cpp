//===- CpuTarget.cpp - the processor that kernels are compiled for --------===//

#include "weft/compiler/codegen/cpu/CpuTarget.h"

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/runtime/abi/weft.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace weft;

namespace {
/// A target of x86-64 or of another architecture.
struct NamedTarget {
  bool isX86;
  llvm::StringLiteral name, cpu; ///< cpu: LLVM's name
  bool hasFma;
  uint64_t features;
};
} // namespace

static constexpr NamedTarget kTargets[] = {
    {true, "cpu:avx512", "x86-64-v4", true,
     WEFT_FEATURE_AVX512 | WEFT_FEATURE_AVX2},
    {true, "cpu:avx2", "x86-64-v3", true, WEFT_FEATURE_AVX2},
    {true, "cpu:generic", "x86-64", false, 0},
    {false, "cpu:neon", "generic", true, WEFT_FEATURE_NEON},
    {false, "cpu:generic", "generic", true, 0},
};

std::optional<CpuTarget> CpuTarget::fromName(llvm::StringRef name) {
  if (name == "cpu" || name == "cpu:host")
    return host();
  CpuTarget target;
  target.name = name.str();
  target.triple = llvm::sys::getDefaultTargetTriple();
  if (std::optional<nest::TargetLimits> limits = nest::targetLimits(name))
    target.vectorBytes = limits->vectorBytes;
  bool isX86 = llvm::Triple(target.triple).isX86();
  for (const NamedTarget &named : kTargets)
    if (named.name == name && named.isX86 == isX86) {
      target.cpu = named.cpu.str();
      target.hasFma = named.hasFma;
      target.runtimeFeatures = named.features;
      return target;
    }
  return std::nullopt;
}

static CpuTarget findHost() {
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  if (triple.isAArch64())
    return *CpuTarget::fromName("cpu:neon");
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto all = [&](std::initializer_list<llvm::StringRef> names) {
    for (llvm::StringRef name : names)
      if (!features.lookup(name))
        return false;
    return true;
  };
  // The features of x86-64-v3 and -v4.
  bool avx2 = all({"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"});
  if (avx2 &&
      all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) {
    CpuTarget target = *CpuTarget::fromName("cpu:avx512");
    target.hasByteProducts = all({"avx512vnni"});
    return target;
  }
  return *CpuTarget::fromName(avx2 ? "cpu:avx2" : "cpu:generic");
}

/// The host's target is found once, as queries of the processor are slow in a
/// virtual machine.
CpuTarget CpuTarget::host() {
  static const CpuTarget found = findHost();
  return found;
}
