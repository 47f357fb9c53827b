//===- Differentiate.cpp - --weft-differentiate ---------------------------===//

#include "weft/dialects/weft/ops/FlowOps.h"
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

/// Erases dead ops. Bodies have no branches, so one backward walk finds all of
/// them.
void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      llvm::for_each(region, eraseDeadOps);
  }
}

/// Inlines checkpoints, after the choice of values to keep or to recompute: the
/// region's ops replace the op.
void inlineCheckpoints(func::FuncOp function) {
  SmallVector<CheckpointOp> checkpoints;
  function.walk([&](CheckpointOp op) { checkpoints.push_back(op); });
  for (CheckpointOp op : checkpoints)
    inlineRegion(op, op.getBody(), op.getInputs());
}

/// Removes stop_gradient ops, which only matter to derivatives.
void eraseMarks(func::FuncOp function) {
  function.walk([](StopGradientOp op) {
    op->replaceAllUsesWith(op->getOperands());
    op.erase();
  });
}

/// Erases private functions without uses until there are none, as an erased
/// function may have been the last user of another.
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
    uint64_t created = 0;
    for (Block &block : function.getBody())
      for (Operation &op : llvm::make_early_inc_range(block)) {
        OpBuilder builder(&op);
        Expander expander(symbols, builder);
        expander.created = created;
        if (failed(expander.expandWithin(&op)))
          return failure();
        created = expander.created;
        if (!Expander::isExpandable(&op))
          continue;
        SmallVector<Operation *> tape;
        auto results = expander.expand(&op, op.getOperands(), tape);
        if (failed(results))
          return failure();
        op.replaceAllUsesWith(*results);
        op.erase();
        created = expander.created;
        numDifferentiated += expander.differentiated;
        numGradientOps += expander.gradientOps;
      }
    inlineCheckpoints(function);
    eraseMarks(function);
    llvm::for_each(function.getBody(), eraseDeadOps);
    return success();
  }
};

} // namespace
} // namespace weft
