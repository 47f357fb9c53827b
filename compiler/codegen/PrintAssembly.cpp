//===- PrintAssembly.cpp - prints the code that a generator emits ---------===//

#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/codegen/Passes.h"
#include "weft/dialects/weft/KernelTraits.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_PRINTASSEMBLY
#include "weft/compiler/codegen/Passes.h.inc"

namespace {
struct PrintAssemblyPass : impl::PrintAssemblyBase<PrintAssemblyPass> {
  using PrintAssemblyBase::PrintAssemblyBase;
  void runOnOperation() override {
    std::string error;
    auto generator = openCodegen(target, error);
    if (!generator) {
      getOperation().emitError(error);
      return signalPassFailure();
    }
    auto kernels = llvm::filter_to_vector(
        getOperation().getOps<func::FuncOp>(),
        [](func::FuncOp function) { return isKernel(function); });
    if (failed(generator->printAssembly(kernels, llvm::outs())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace weft
