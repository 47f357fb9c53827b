//===- TargetLimits.cpp - limits of a target for loop nests ---------------===//

#include "weft/dialects/nest/TargetLimits.h"

#include "weft/dialects/weft/ElementTypes.h"

using namespace weft;
using namespace weft::nest;

/// Limits of CPU kernels, whose scratch memory is on the stack of a worker;
/// GPUs have the same limits.
static constexpr int64_t kStored = 64 * 1024, kStack = 1024 * 1024;

llvm::ArrayRef<TargetLimits> weft::nest::allTargetLimits() {
  static constexpr BlockLimits a100{256, 48 * 1024, 108, 64, 512, 1024, 48},
      h100{256, 48 * 1024, 132, 128, 512, 1024, 64},
      b200{256, 48 * 1024, 148, 128, 512, 1024, 64};
  static constexpr TargetLimits table[] = {
      {"cpu:avx512", 64, 32, kStored, kStack, 1, true, true},
      {"cpu:avx2", 32, 16, kStored, kStack, 1, true, true},
      {"cpu:generic", 16, 16, kStored, kStack, 1, true, true},
      {"cpu:neon", 16, 32, kStored, kStack, 1, true, true},
      {"cuda:sm_80", 16, 255, kStored, kStack, 32, false, false, true, a100},
      {"cuda:sm_90a", 16, 255, kStored, kStack, 32, false, false, true, h100},
      {"cuda:sm_100a", 16, 255, kStored, kStack, 32, false, false, true, b200},
  };
  return table;
}

std::optional<TargetLimits> weft::nest::targetLimits(llvm::StringRef name) {
  for (const TargetLimits &limits : allTargetLimits())
    if (limits.name == name)
      return limits;
  return std::nullopt;
}

llvm::FailureOr<TargetLimits> weft::nest::targetLimits(llvm::StringRef name,
                                                       mlir::Operation *op) {
  if (std::optional<TargetLimits> limits = targetLimits(name))
    return *limits;
  std::string known;
  for (const TargetLimits &limits : allTargetLimits())
    known += (known.empty() ? "" : ", ") + limits.name.str();
  return op->emitError() << "no loop nests for '" << name << "'; use one of "
                         << known;
}

int64_t TargetLimits::lanes(mlir::Type element) const {
  return std::max<int64_t>(vectorBytes / bytesOf(element), 1);
}
