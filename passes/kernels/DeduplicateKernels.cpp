//===- DeduplicateKernels.cpp - keeps one of several equal kernels --------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/weft/KernelTraits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "weft/passes/kernels/Passes.h.inc"

/// A hash that is equal for equal kernels.
static llvm::hash_code hashOf(func::FuncOp kernel) {
  llvm::hash_code hash = hash_value(kernel.getFunctionType());
  for (Operation &op : kernel.getBody().front())
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     &op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  return hash;
}

/// Whether two kernels have equal attributes, except for names.
static bool haveEqualAttributes(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a->getDiscardableAttrDictionary() ==
             b->getDiscardableAttrDictionary() &&
         a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         a.getResAttrsAttr() == b.getResAttrsAttr();
}

static bool areEqual(func::FuncOp a, func::FuncOp b) {
  return haveEqualAttributes(a, b) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

namespace {
struct DeduplicateKernelsPass
    : impl::DeduplicateKernelsBase<DeduplicateKernelsPass> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    llvm::DenseMap<size_t, SmallVector<func::FuncOp, 1>> known;
    llvm::DenseMap<StringAttr, func::FuncOp> replacement;
    for (auto kernel : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!isKernel(kernel))
        continue;
      SmallVector<func::FuncOp, 1> &sameHash = known[hashOf(kernel)];
      auto first = llvm::find_if(sameHash, [&](func::FuncOp other) {
        return areEqual(other, kernel);
      });
      if (first == sameHash.end())
        sameHash.push_back(kernel);
      else
        replacement[kernel.getNameAttr()] = *first;
    }
    getOperation().walk([&](func::CallOp call) {
      if (func::FuncOp kernel =
              replacement.lookup(call.getCalleeAttr().getAttr()))
        call.setCallee(kernel.getName());
    });
    for (auto kernel : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (replacement.contains(kernel.getNameAttr())) {
        kernel.erase();
        ++removed;
      }
  }
};
} // namespace
} // namespace weft
