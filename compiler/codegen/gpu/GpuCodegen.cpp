//===- GpuCodegen.cpp - the code generator for NVIDIA GPUs ----------------===//

#include "weft/compiler/codegen/gpu/GpuCodegen.h"

#include "weft/compiler/codegen/gpu/KernelWalk.h"
#include "weft/compiler/codegen/gpu/LowerToPtx.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/runtime/abi/weft.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

namespace {
class GpuCodegen : public KernelCodegen {
public:
  explicit GpuCodegen(llvm::StringRef target) : name(target) {}
  llvm::StringRef target() const override { return name; }
  uint64_t runtimeFeatures() const override { return WEFT_FEATURE_CUDA; }
  LogicalResult compile(ModuleOp module, const CodegenOptions &options,
                        CompiledKernels &code) override;
  LogicalResult printAssembly(ArrayRef<func::FuncOp> kernels,
                              llvm::raw_ostream &out) override;

private:
  /// Emits an error for every kernel without code.
  LogicalResult refuseOthers(ArrayRef<func::FuncOp> kernels) const;
  StringRef chip() const { return StringRef(name).split(':').second; }
  LogicalResult writePtx(ArrayRef<func::FuncOp> kernels, std::string &ptx);
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
    if (!weft::gpu::findLaunches(kernel, why).empty())
      continue;
    result =
        kernel.emitError()
        << "kernel '" << kernel.getName() << "' has no code for " << name
        << ": " << why
        << "; give each loop nest a kernel of its own, or compile for a CPU";
  }
  return result;
}

LogicalResult GpuCodegen::writePtx(ArrayRef<func::FuncOp> kernels,
                                   std::string &ptx) {
  if (failed(refuseOthers(kernels)))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (func::FuncOp kernel : kernels) {
    // A copy without other attributes, such as plan.library, on which the code
    // must not depend.
    OwningOpRef<func::FuncOp> bare(kernel.clone());
    for (NamedAttribute attribute :
         llvm::to_vector((*bare)->getDiscardableAttrs()))
      if (attribute.getName() != kKernelAttr &&
          attribute.getName() != nest::kNestAttr &&
          attribute.getName() != plan::kScratchAttr)
        (*bare)->removeDiscardableAttr(attribute.getName());
    bare->print(
        stream,
        OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(INT64_MAX));
    stream << "\n";
  }
  std::string error = weft::gpu::lowerToPtx(text, chip(), ptx);
  if (!error.empty())
    return kernels.front()->getParentOfType<ModuleOp>().emitError()
           << "no code for " << name << ": " << error;
  return success();
}

LogicalResult GpuCodegen::printAssembly(ArrayRef<func::FuncOp> kernels,
                                        llvm::raw_ostream &out) {
  std::string ptx;
  if (failed(writePtx(kernels, ptx)))
    return failure();
  out << ptx;
  return success();
}

/// The launches of a kernel. Loops step by the grid, so that a device may start
/// fewer blocks.
static DeviceKernel launchesOf(func::FuncOp kernel) {
  using namespace weft::gpu;
  std::string why;
  DeviceKernel made{.name = kernel.getName().str(), .launches = {}};
  for (auto [i, loops] : llvm::enumerate(findLaunches(kernel, why))) {
    int64_t blocks = llvm::divideCeil(threadsOf(loops), kBlockThreads);
    made.launches.push_back({.symbol = launchName(kernel, i),
                             .block = {kBlockThreads, 1, 1},
                             .blocks = std::max<int64_t>(blocks, 1)});
  }
  return made;
}

LogicalResult GpuCodegen::compile(ModuleOp module, const CodegenOptions &,
                                  CompiledKernels &code) {
  SmallVector<func::FuncOp> kernels = llvm::filter_to_vector(
      module.getOps<func::FuncOp>(),
      [](func::FuncOp function) { return isKernel(function); });
  code.chip = chip();
  if (failed(writePtx(kernels, code.ptx)))
    return failure();
  for (func::FuncOp kernel : kernels)
    code.deviceKernels.push_back(launchesOf(kernel));
  return success();
}

std::unique_ptr<KernelCodegen> weft::openGpuCodegen(llvm::StringRef target) {
  return std::make_unique<GpuCodegen>(target);
}
