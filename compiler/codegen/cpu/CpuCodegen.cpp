//===- CpuCodegen.cpp - the code generator for processors ------------------===//

#include "weft/compiler/codegen/cpu/CpuCodegen.h"

#include "weft/compiler/codegen/cpu/CompileKernels.h"

using namespace mlir;
using namespace weft;

namespace {
class CpuCodegen : public KernelCodegen {
public:
  explicit CpuCodegen(CpuTarget target) : cpu(std::move(target)) {}
  llvm::StringRef target() const override { return cpu.name; }
  uint64_t runtimeFeatures() const override { return cpu.runtimeFeatures; }
  LogicalResult compile(ModuleOp module, const CodegenOptions &options,
                        SmallVectorImpl<char> &sharedObject) override {
    return compileKernels(module, cpu, options, sharedObject);
  }
  LogicalResult printAssembly(ArrayRef<func::FuncOp> kernels,
                              llvm::raw_ostream &out) override {
    return printKernels(kernels, cpu, out);
  }

private:
  CpuTarget cpu;
};
} // namespace

llvm::ArrayRef<llvm::StringLiteral> weft::cpuTargets() {
  static constexpr llvm::StringLiteral names[] = {
      "native", "cpu", "cpu:host", "cpu:avx512", "cpu:avx2", "cpu:generic", "cpu:neon"};
  return names;
}

std::unique_ptr<KernelCodegen> weft::openCpuCodegen(llvm::StringRef target) {
  std::optional<CpuTarget> cpu = target == "native" ? CpuTarget::host() : CpuTarget::fromName(target);
  return cpu ? std::make_unique<CpuCodegen>(std::move(*cpu)) : nullptr;
}
