//===- ChooseLibraries.cpp - kernels that a library may compute -----------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/passes/kernels/LibraryCall.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CHOOSELIBRARIES
#include "weft/passes/kernels/Passes.h.inc"

/// Copies the ops between `root` and `value` for a view of `other`.
static Value viewOfOther(OpBuilder &builder, Value value, Value root,
                         Value other) {
  if (value == root)
    return other;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  mapping.map(op->getOperand(0),
              viewOfOther(builder, op->getOperand(0), root, other));
  return builder.clone(*op, mapping)->getResult(0);
}

/// Gives the kernel an argument after its first, of which rhs is a view, so that
/// a contraction of an array with itself has two operands. All calls pass the
/// array twice.
static void separateRhs(func::FuncOp kernel, const LibraryCall &its,
                        ArrayRef<func::CallOp> calls) {
  (void)kernel.insertArgument(1, its.rhs.getType(), {}, kernel.getLoc());
  OpBuilder builder(its.contraction);
  OpOperand &rhs = its.contraction->getOpOperand(1);
  rhs.set(viewOfOther(builder, rhs.get(), its.rhs, kernel.getArgument(1)));
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (func::CallOp call : calls)
    call->insertOperands(1, call.getOperand(0));
}

/// The library call that computes the kernel, or nothing.
static std::optional<LibraryCall>
chooseLibrary(func::FuncOp kernel, const nest::TargetLimits &limits,
              nest::MatmulPrecision precision) {
  Block &block = kernel.getBody().front();
  KernelValues values;
  for (Operation &op : block.without_terminator())
    values.ops.push_back(&op);
  llvm::append_range(values.inputs, kernel.getArguments());
  llvm::append_range(values.results, block.getTerminator()->getOperands());
  auto found = libraryCallOf(values, limits, precision);
  bool isOne = found && found->lhs == found->rhs;
  if (!found || found->lhs != kernel.getArgument(0) ||
      (!isOne && found->rhs != kernel.getArgument(1)))
    return std::nullopt;
  return found;
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
    llvm::DenseMap<StringAttr, SmallVector<func::CallOp>> calls;
    getOperation().walk([&](func::CallOp call) {
      calls[call.getCalleeAttr().getAttr()].push_back(call);
    });
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel) || nest::decisionsOf(kernel))
        continue;
      auto call = chooseLibrary(kernel, *limits, precision);
      if (!call)
        continue;
      if (call->lhs == call->rhs)
        separateRhs(kernel, *call, calls[kernel.getNameAttr()]);
      kernel->setAttr(plan::kLibraryAttr, call->call);
      ++chosen;
    }
  }
};
} // namespace
} // namespace weft
