//===- CpuTarget.cpp - the processor that kernels are compiled for --------===//

#include "weft/compiler/codegen/cpu/CpuTarget.h"

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/runtime/abi/weft.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace weft;

std::optional<CpuTarget> CpuTarget::fromName(llvm::StringRef name) {
  if (name == "cpu" || name == "cpu:host")
    return host();
  CpuTarget target;
  target.name = name.str();
  target.triple = llvm::sys::getDefaultTargetTriple();
  if (std::optional<nest::TargetLimits> limits = nest::targetLimits(name))
    target.vectorBytes = limits->vectorBytes;
  if (name == "cpu:avx512") {
    target.cpu = "x86-64-v4";
    target.hasFma = true;
    target.runtimeFeatures = WEFT_FEATURE_AVX512 | WEFT_FEATURE_AVX2;
  } else if (name == "cpu:avx2") {
    target.cpu = "x86-64-v3";
    target.hasFma = true;
    target.runtimeFeatures = WEFT_FEATURE_AVX2;
  } else if (name == "cpu:neon") {
    target.cpu = "generic";
    target.hasFma = true;
    target.runtimeFeatures = WEFT_FEATURE_NEON;
  } else if (name == "cpu:generic") {
    bool isX86 = llvm::Triple(target.triple).isX86();
    target.cpu = isX86 ? "x86-64" : "generic";
    target.hasFma = !isX86;
  } else {
    return std::nullopt;
  }
  return target;
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
  if (avx2 && all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return *CpuTarget::fromName("cpu:avx512");
  return *CpuTarget::fromName(avx2 ? "cpu:avx2" : "cpu:generic");
}

/// The host's target is found once, as queries of the processor are slow in a
/// virtual machine.
CpuTarget CpuTarget::host() {
  static const CpuTarget found = findHost();
  return found;
}
