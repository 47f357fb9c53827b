//===- LowerControlFlow.cpp - only while and two-way case are left --------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_LOWERCONTROLFLOW
#include "weft/passes/kernels/Passes.h.inc"

static Value integer(OpBuilder &builder, Location loc, int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI32Type());
  return ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, builder.getI32IntegerAttr(value)));
}

static Value compare(OpBuilder &builder, Location loc, CompareKind kind,
                     Value value, int64_t with) {
  return CompareOp::create(builder, loc, kind, value,
                           integer(builder, loc, with));
}

/// Replaces a for by a while whose first carried value is the counter.
static void lowerFor(ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits{integer(builder, loc, 0)};
  llvm::append_range(inits, loop.getInits());
  TypeRange types((ValueRange(inits)));
  auto lowered =
      WhileOp::create(builder, loc, types, inits, loop.getCountAttr());
  Block &condition = lowered.getCondition().emplaceBlock();
  for (Type type : types)
    condition.addArgument(type, loc);
  builder.setInsertionPointToEnd(&condition);
  Value goesOn = compare(builder, loc, CompareKind::LT,
                         condition.getArgument(0), loop.getCount());
  ConditionOp::create(builder, loc, goesOn, condition.getArguments());
  lowered.getBody().takeBody(loop.getBody());
  Operation *end = lowered.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  SmallVector<Value> yielded{AddOp::create(builder, loc,
                                           lowered.getBody().getArgument(0),
                                           integer(builder, loc, 1))};
  llvm::append_range(yielded, end->getOperands());
  YieldOp::create(builder, loc, yielded);
  end->erase();
  loop.replaceAllUsesWith(lowered.getResults().drop_front());
  loop.erase();
}

static CaseOp lowerCase(CaseOp choice);

/// Builds a region that chooses among all branches except the first. Its
/// arguments are `passed`, the index first.
static void chooseRest(CaseOp choice, ValueRange passed, Region &rest) {
  Location loc = choice.getLoc();
  Block &block = rest.emplaceBlock();
  for (Value value : passed)
    block.addArgument(value.getType(), loc);
  auto builder = OpBuilder::atBlockBegin(&block);
  unsigned count = choice.getBranches().size() - 1;
  auto inner = CaseOp::create(builder, loc, choice.getResultTypes(),
                              block.getArgument(0),
                              block.getArguments().drop_front(), count);
  for (unsigned i = 0; i < count; ++i)
    inner.getBranches()[i].takeBody(choice.getBranches()[i + 1]);
  inner = lowerCase(inner);
  YieldOp::create(builder, loc, inner.getResults());
}

/// Lowers a case to `index == 0 ? first : rest(index - 1)`; an index out of
/// range reaches the last branch.
static CaseOp lowerCase(CaseOp choice) {
  OpBuilder builder(choice);
  Location loc = choice.getLoc();
  Value isFirst =
      compare(builder, loc, CompareKind::EQ, choice.getSelector(), 0);
  SmallVector<Value> passed(choice.getInputs());
  bool isLast = choice.getBranches().size() == 2;
  if (!isLast)
    passed.insert(passed.begin(),
                  SubOp::create(builder, loc, choice.getSelector(),
                                integer(builder, loc, 1)));
  auto lowered =
      CaseOp::create(builder, loc, choice.getResultTypes(), isFirst, passed, 2);
  Region &first = lowered.getBranches()[0], &rest = lowered.getBranches()[1];
  first.takeBody(choice.getBranches()[0]);
  if (isLast) {
    rest.takeBody(choice.getBranches()[1]);
  } else {
    first.insertArgument(0u, passed.front().getType(), loc);
    chooseRest(choice, passed, rest);
  }
  choice.replaceAllUsesWith(lowered.getResults());
  choice.erase();
  return lowered;
}

namespace {
struct LowerControlFlowPass : impl::LowerControlFlowBase<LowerControlFlowPass> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    // Inner ops are lowered first.
    getOperation().walk([](Operation *op) {
      if (auto loop = dyn_cast<ForOp>(op))
        lowerFor(loop);
      else if (auto barrier = dyn_cast<OptimizationBarrierOp>(op)) {
        barrier.replaceAllUsesWith(barrier.getInputs());
        barrier.erase();
      } else if (auto choice = dyn_cast<CaseOp>(op)) {
        if (choice.getBranches().size() == 1)
          inlineRegion(choice, choice.getBranches()[0], choice.getInputs());
        else if (!getElementTypeOrSelf(choice.getSelector()).isInteger(1))
          lowerCase(choice);
      }
    });
  }
};
} // namespace
} // namespace weft
