//===- WidenShortSums.cpp - sums of short floats in f32 -------------------===//

#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_WIDENSHORTSUMS
#include "weft/passes/kernels/Passes.h.inc"

static bool isShort(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  return element.isBF16() || element.isF16();
}

/// The same op on f32, and its result in the type it had.
static void widen(Operation *op) {
  OpBuilder builder(op);
  IRMapping mapping;
  for (Value operand :
       llvm::SetVector<Value>(op->operand_begin(), op->operand_end()))
    mapping.map(operand, ConvertOp::create(builder, op->getLoc(), operand,
                                           builder.getF32Type())
                             .getResult());
  Operation *wide = builder.clone(*op, mapping);
  Value result = wide->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(type.clone(builder.getF32Type()));
  op->getResult(0).replaceAllUsesWith(
      ConvertOp::create(builder, op->getLoc(), result, type.getElementType()));
  op->erase();
}

namespace {
struct WidenShortSumsPass : impl::WidenShortSumsBase<WidenShortSumsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation().walk([&](AccumulatesOpInterface op) {
      if (op.accumulates() && isShort(op->getResult(0).getType()))
        found.push_back(op);
    });
    for (Operation *op : found)
      widen(op);
    widened += found.size();
  }
};
} // namespace
} // namespace weft
