//===- DeduplicateKernels.cpp - keeps one of several equal kernels ---------===//

#include "weft/passes/kernels/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "weft/passes/kernels/Passes.h.inc"

/// The kernel's text without its name: equal for equal kernels.
static std::string textWithoutName(func::FuncOp kernel) {
  std::string name = kernel.getName().str(), text;
  kernel.setName("kernel");
  llvm::raw_string_ostream stream(text);
  kernel.print(stream, OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(INT64_MAX));
  kernel.setName(name);
  return text;
}

namespace {
struct DeduplicateKernelsPass : impl::DeduplicateKernelsBase<DeduplicateKernelsPass> {
  void runOnOperation() override {
    llvm::StringMap<func::FuncOp> first;
    llvm::DenseMap<StringAttr, func::FuncOp> replacement;
    for (auto kernel : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr("weft.kernel"))
        continue;
      auto [entry, isNew] = first.try_emplace(textWithoutName(kernel), kernel);
      if (!isNew)
        replacement[kernel.getNameAttr()] = entry->second;
    }
    getOperation().walk([&](func::CallOp call) {
      if (func::FuncOp kernel = replacement.lookup(call.getCalleeAttr().getAttr()))
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
