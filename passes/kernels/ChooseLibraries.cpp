//===- ChooseLibraries.cpp - kernels that a library may compute -----------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/passes/kernels/LibraryCall.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CHOOSELIBRARIES
#include "weft/passes/kernels/Passes.h.inc"

/// The library call that computes the kernel, or null; its arguments are lhs,
/// rhs and perhaps the bias, in this order.
static plan::ContractionAttr chooseLibrary(func::FuncOp kernel,
                                           nest::MatmulPrecision precision) {
  Block &block = kernel.getBody().front();
  KernelValues values;
  for (Operation &op : block.without_terminator())
    values.ops.push_back(&op);
  llvm::append_range(values.inputs, kernel.getArguments());
  llvm::append_range(values.results, block.getTerminator()->getOperands());
  auto found = libraryCallOf(values, precision);
  if (!found || found->lhs != kernel.getArgument(0) ||
      found->rhs != kernel.getArgument(1))
    return {};
  return found->call;
}

namespace {
struct ChooseLibrariesPass : impl::ChooseLibrariesBase<ChooseLibrariesPass> {
  using ChooseLibrariesBase::ChooseLibrariesBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    auto limits = nest::targetLimits(target);
    if (!limits || !limits->hasLibraries)
      return;
    nest::MatmulPrecision precision = nest::matmulPrecisionOf(getOperation());
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel) || nest::decisionsOf(kernel))
        continue;
      plan::ContractionAttr call = chooseLibrary(kernel, precision);
      if (!call)
        continue;
      kernel->setAttr(plan::kLibraryAttr, call);
      ++chosen;
    }
  }
};
} // namespace
} // namespace weft
