//===- WidenShortSums.cpp - short floats are added up in f32 -------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_WIDENSHORTSUMS
#include "weft/passes/kernels/Passes.h.inc"

static bool isShort(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  return element.isBF16() || element.isF16();
}

/// Makes the result f32; its uses get a conversion to the old type.
static void widen(Operation *op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(type.clone(builder.getF32Type()));
  auto back =
      ConvertOp::create(builder, op->getLoc(), result, type.getElementType());
  result.replaceAllUsesExcept(back, back);
}

/// Replaces operands that are conversions by their sources, if the conversion's
/// and the result's type represent all values of the source's; returns whether
/// any was replaced.
static bool readUnconverted(Operation *op) {
  bool changed = false;
  Type sums = getElementTypeOrSelf(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands()) {
    auto convert = operand.get().getDefiningOp<ConvertOp>();
    Type from = convert ? getElementTypeOrSelf(convert.getInput()) : Type();
    if (!convert || !isExactIn(from, getElementTypeOrSelf(operand.get())) ||
        !isExactIn(from, sums))
      continue;
    operand.set(convert.getInput());
    if (convert->use_empty())
      convert->erase();
    changed = true;
  }
  return changed;
}

namespace {
struct WidenShortSumsPass : impl::WidenShortSumsBase<WidenShortSumsPass> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> found;
    getOperation().walk([&](AccumulatesOpInterface op) {
      if (op.accumulates() && isShort(op->getResult(0).getType()))
        found.push_back(op);
    });
    for (Operation *op : found)
      widen(op);
    widened += found.size();
    getOperation().walk([&](AccumulatesOpInterface op) {
      if (op.accumulates() && readUnconverted(op))
        ++unconverted;
    });
  }
};
} // namespace
} // namespace weft
