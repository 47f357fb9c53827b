//===- CpuCodegen.cpp - the code generator for processors -----------------===//

#include "weft/compiler/codegen/cpu/CpuCodegen.h"

#include "weft/compiler/codegen/cpu/CompileKernels.h"
#include "weft/compiler/codegen/cpu/DotShape.h"
#include "weft/compiler/codegen/cpu/LowerKernel.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/runtime/abi/weft.h"

using namespace mlir;
using namespace weft;

namespace {
class CpuCodegen : public KernelCodegen {
public:
  explicit CpuCodegen(CpuTarget target) : kept(std::move(target)) {}
  llvm::StringRef target() const override { return kept.target.name; }
  uint64_t runtimeFeatures() const override {
    return kept.target.runtimeFeatures;
  }
  LogicalResult compile(ModuleOp module, const CodegenOptions &options,
                        CompiledKernels &code) override {
    for (auto kernel : module.getOps<func::FuncOp>())
      if (isKernel(kernel) && cpu::usesByteProducts(kernel, kept.target))
        code.features |= WEFT_FEATURE_AVX512_VNNI;
    return compileKernels(module, kept, options, code.sharedObject);
  }
  LogicalResult printAssembly(ArrayRef<func::FuncOp> kernels,
                              llvm::raw_ostream &out) override {
    return printKernels(kernels, kept.target, out);
  }

private:
  cpu::KeptLowerings kept;
};
} // namespace

std::unique_ptr<KernelCodegen> weft::openCpuCodegen(llvm::StringRef target) {
  std::optional<CpuTarget> cpu =
      target == "native" ? CpuTarget::host() : CpuTarget::fromName(target);
  return cpu ? std::make_unique<CpuCodegen>(std::move(*cpu)) : nullptr;
}
