//===- KernelCodegen.cpp - the border to the code generators --------------===//

#include "weft/compiler/codegen/KernelCodegen.h"

#include "weft/compiler/codegen/cpu/CpuCodegen.h"
#ifdef WEFT_HAS_GPU_CODEGEN
#include "weft/compiler/codegen/gpu/GpuCodegen.h"
#endif
#include "weft/dialects/nest/TargetLimits.h"

#include "llvm/ADT/StringExtras.h"

using namespace weft;

namespace {
/// A code generator for one kind of target. Its targets are those of
/// nest::allTargetLimits() whose names start with the kind (cpu:avx2 for cpu),
/// and aliases of them.
struct Generator {
  llvm::StringLiteral kind;
  llvm::ArrayRef<llvm::StringLiteral> aliases;
  /// Opens the generator; null for a target of another architecture.
  std::unique_ptr<KernelCodegen> (*open)(llvm::StringRef target);
};
} // namespace

static constexpr llvm::StringLiteral cpuAliases[] = {"native", "cpu",
                                                     "cpu:host"};
static constexpr Generator generators[] = {
    {"cpu", cpuAliases, openCpuCodegen},
#ifdef WEFT_HAS_GPU_CODEGEN
    {"cuda", {}, openGpuCodegen},
#endif
};

static llvm::SmallVector<llvm::StringRef> targetsOf(const Generator &its) {
  llvm::SmallVector<llvm::StringRef> names(its.aliases);
  for (const nest::TargetLimits &limits : nest::allTargetLimits())
    if (limits.name.split(':').first == its.kind)
      names.push_back(limits.name);
  return names;
}

std::string weft::knownTargets() {
  llvm::SmallVector<llvm::StringRef> names;
  for (const Generator &generator : generators)
    names.append(targetsOf(generator));
  return llvm::join(names, ", ");
}

std::unique_ptr<KernelCodegen> weft::openCodegen(llvm::StringRef target,
                                                 std::string &error) {
  for (const Generator &generator : generators)
    if (llvm::is_contained(targetsOf(generator), target)) {
      auto opened = generator.open(target);
      if (!opened)
        error = "target '" + target.str() +
                "' is a processor of another architecture than this machine's; "
                "compile on a machine of that architecture, or use cpu:host";
      return opened;
    }
  error = "unknown target '" + target.str() + "'; use one of " + knownTargets();
  return nullptr;
}
