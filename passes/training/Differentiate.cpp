//===- Differentiate.cpp - --weft-differentiate
//----------------------------===//

#include "weft/passes/training/Passes.h"
#include "weft/passes/training/Tape.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace weft {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "weft/passes/training/Passes.h.inc"
} // namespace weft

using namespace mlir;

namespace weft {

namespace {

/// Bodies are straight lines, so one walk backwards finds all that is dead.
void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// A private function may be held by another that is erased: until none is.
void erasePrivateFunctions(ModuleOp module) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.isPrivate() &&
          SymbolTable::symbolKnownUseEmpty(function, module)) {
        function.erase();
        changed = true;
      }
  }
}

class DifferentiatePass
    : public impl::DifferentiatePassBase<DifferentiatePass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isPrivate() && failed(flatten(function)))
        return signalPassFailure();
    erasePrivateFunctions(module);
  }

private:
  LogicalResult flatten(func::FuncOp function) {
    SymbolTable symbols(getOperation());
    for (Block &block : function.getBody())
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (!Expander::isExpandable(&op))
          continue;
        OpBuilder builder(&op);
        Expander expander(symbols, builder);
        SmallVector<Operation *> tape;
        auto results = expander.expand(&op, op.getOperands(), tape);
        if (failed(results))
          return failure();
        op.replaceAllUsesWith(*results);
        op.erase();
        numDifferentiated += expander.differentiated;
        numGradientOps += expander.gradientOps;
      }
    for (Block &block : function.getBody())
      eraseDeadOps(block);
    return success();
  }
};

} // namespace
} // namespace weft
