//===- GpuCodegen.cpp - the code generator for NVIDIA GPUs ----------------===//

#include "weft/compiler/codegen/gpu/GpuCodegen.h"

#include "weft/compiler/codegen/gpu/KernelWalk.h"
#include "weft/compiler/codegen/gpu/LowerToPtx.h"
#include "weft/dialects/weft/KernelTraits.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

namespace {
class GpuCodegen : public KernelCodegen {
public:
  explicit GpuCodegen(llvm::StringRef target) : name(target) {}
  llvm::StringRef target() const override { return name; }
  uint64_t runtimeFeatures() const override { return 0; }
  LogicalResult compile(ModuleOp module, const CodegenOptions &options,
                        SmallVectorImpl<char> &sharedObject) override;
  LogicalResult printAssembly(ArrayRef<func::FuncOp> kernels,
                              llvm::raw_ostream &out) override;

private:
  /// Every kernel that has no code is an error of its own.
  LogicalResult refuseOthers(ArrayRef<func::FuncOp> kernels) const;
  std::string name;
};
} // namespace

LogicalResult GpuCodegen::refuseOthers(ArrayRef<func::FuncOp> kernels) const {
  LogicalResult result = success();
  for (func::FuncOp kernel : kernels) {
    std::string why;
    nest::KernelAttr decisions = nest::decisionsOf(kernel);
    if (!decisions || decisions.getTarget() != name) {
      result = kernel.emitError()
               << "the loop nests of kernel '" << kernel.getName()
               << "' are not chosen for " << name
               << "; run --weft-choose-nests=target=" << name;
      continue;
    }
    if (weft::gpu::findLaunch(kernel, why))
      continue;
    result = kernel.emitError()
             << "kernel '" << kernel.getName() << "' has no code for " << name
             << ": " << why
             << "; supported are elementwise kernels and reductions of rows";
  }
  return result;
}

LogicalResult GpuCodegen::printAssembly(ArrayRef<func::FuncOp> kernels,
                                        llvm::raw_ostream &out) {
  if (failed(refuseOthers(kernels)))
    return failure();
  std::string text, ptx;
  llvm::raw_string_ostream stream(text);
  for (func::FuncOp kernel : kernels) {
    kernel.print(
        stream,
        OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(INT64_MAX));
    stream << "\n";
  }
  llvm::StringRef chip = llvm::StringRef(name).split(':').second;
  std::string error = weft::gpu::lowerToPtx(text, chip, ptx);
  if (!error.empty())
    return kernels.front()->getParentOfType<ModuleOp>().emitError()
           << "no code for " << name << ": " << error;
  out << ptx;
  return success();
}

LogicalResult GpuCodegen::compile(ModuleOp module, const CodegenOptions &,
                                  SmallVectorImpl<char> &) {
  SmallVector<func::FuncOp> kernels = llvm::filter_to_vector(
      module.getOps<func::FuncOp>(),
      [](func::FuncOp function) { return isKernel(function); });
  if (failed(refuseOthers(kernels)))
    return failure();
  return module.emitError() << "programs for " << name
                            << " cannot run yet: there is no runtime for GPUs; "
                               "print the kernels with --emit=assembly";
}

llvm::ArrayRef<llvm::StringLiteral> weft::gpuTargets() {
  static constexpr llvm::StringLiteral names[] = {"cuda:sm_80", "cuda:sm_90a"};
  return names;
}

std::unique_ptr<KernelCodegen> weft::openGpuCodegen(llvm::StringRef target) {
  return std::make_unique<GpuCodegen>(target);
}
