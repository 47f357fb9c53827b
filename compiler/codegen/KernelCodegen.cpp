//===- KernelCodegen.cpp - the border to the code generators --------------===//

#include "weft/compiler/codegen/KernelCodegen.h"

#include "weft/compiler/codegen/cpu/CpuCodegen.h"
#ifdef WEFT_HAS_GPU_CODEGEN
#include "weft/compiler/codegen/gpu/GpuCodegen.h"
#endif

#include "llvm/ADT/StringExtras.h"

using namespace weft;

namespace {
/// The targets of one generator, and the function that opens it.
struct Generator {
  llvm::ArrayRef<llvm::StringLiteral> (*targets)();
  std::unique_ptr<KernelCodegen> (*open)(llvm::StringRef target);
};
} // namespace

static constexpr Generator generators[] = {
    {cpuTargets, openCpuCodegen},
#ifdef WEFT_HAS_GPU_CODEGEN
    {gpuTargets, openGpuCodegen},
#endif
};

std::string weft::knownTargets() {
  std::string names;
  for (const Generator &generator : generators)
    for (llvm::StringRef name : generator.targets())
      names += (names.empty() ? "" : ", ") + name.str();
  return names;
}

std::unique_ptr<KernelCodegen> weft::openCodegen(llvm::StringRef target,
                                                 std::string &error) {
  for (const Generator &generator : generators)
    if (llvm::is_contained(generator.targets(), target))
      return generator.open(target);
  error = "unknown target '" + target.str() + "'; use one of " + knownTargets();
  return nullptr;
}
