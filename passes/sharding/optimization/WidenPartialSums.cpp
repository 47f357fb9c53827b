//===- WidenPartialSums.cpp - sums of f16 over devices in f32 -------------===//
//
//   %p = weft.dot %x, %w           : tensor<16x10xf16, partial sum>
//   %r = weft.reshard %p           : tensor<16x10xf16>
//
// Here each device rounds its sum to f16, whose range ends at 65504: 60000 +
// 60000 - 60000 would be infinite or 60000, depending on which device has which
// number. The pass computes such sums in f32:
//
//   %p = weft.dot %x, %w           : tensor<16x10xf32, partial sum>
//   %s = weft.reshard %p           : tensor<16x10xf32>
//   %r = weft.convert %s           : tensor<16x10xf16>
//
// bf16 has the range of f32: its partial sums stay as short as they are, and
// the collective adds them up in f32.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/sharding/Passes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_WIDENPARTIALSUMSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

static bool isHalf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF16();
}

/// Whether the value is an f16 sum or product of which each device of a group
/// has a summand.
static bool isPartialHalf(Value value) {
  if (!isHalf(value))
    return false;
  LayoutAttr layout = getLayout(value.getType());
  if (!layout || !layout.getLayout().isPartial())
    return false;
  ReduceKind kind = layout.getLayout().reduce;
  return kind == ReduceKind::Sum || kind == ReduceKind::Prod;
}

static RankedTensorType widened(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.clone(Float32Type::get(type.getContext()));
}

/// Whether the op's operands, results and arguments have stated types.
static bool isPort(Operation *op) {
  return isa<func::FuncOp, func::ReturnOp, FixedLayoutsOpInterface>(op);
}

/// The operands and results of an op; for a loop or a branch, also those of its
/// regions, and for the end of such a region, the loop's or branch's results.
static SmallVector<Value> valuesOf(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  if (op->hasTrait<OpTrait::IsTerminator>() && !isPort(op->getParentOp()))
    llvm::append_range(values, op->getParentOp()->getResults());
  llvm::append_range(values, op->getResults());
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      llvm::append_range(values, block.getArguments());
      llvm::append_range(values, block.getTerminator()->getOperands());
    }
  return values;
}

namespace {
class Widening {
public:
  unsigned run(ModuleOp module);

private:
  void collect(ModuleOp module);
  void widenUses(Operation *op);
  void narrow(Operation *op, Value result);

  llvm::SetVector<Value> partial;
};
} // namespace

/// Makes the result f32; its uses get a conversion to f16.
void Widening::narrow(Operation *op, Value result) {
  Type half = cast<RankedTensorType>(result.getType()).getElementType();
  result.setType(widened(result));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto back = ConvertOp::create(builder, op->getLoc(), result, half);
  result.replaceAllUsesExcept(back, back);
}

/// Makes all of a move's region f32, which moves the operands' elements.
static void widenRegion(Region &region) {
  for (Value argument : region.getArguments())
    if (isHalf(argument))
      argument.setType(widened(argument));
  for (Operation &op : llvm::make_early_inc_range(region.getOps())) {
    DenseElementsAttr data;
    if (matchPattern(&op, m_Constant(&data)) && isHalf(op.getResult(0))) {
      OpBuilder builder(&op);
      auto toFloat = [](const APFloat &number) {
        APFloat wide = number;
        bool exact;
        wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                     &exact);
        return wide.bitcastToAPInt();
      };
      op.replaceAllUsesWith(ConstantOp::create(
          builder, op.getLoc(), data.mapValues(builder.getF32Type(), toFloat)));
      op.erase();
      continue;
    }
    for (Value result : op.getResults())
      if (isHalf(result))
        result.setType(widened(result));
  }
}

/// Widens the other operands and results of an op with a partial one to f32.
/// Ops that sum or multiply with a wider result take operands of f16 as they
/// are. Loops and branches need no change: all values that they identify are
/// partial, or none is. Nor does a convert, which takes any type.
void Widening::widenUses(Operation *op) {
  bool isMove = isa<MovedBoxesOpInterface>(op);
  if ((op->getNumRegions() != 0 && !isMove) ||
      op->hasTrait<OpTrait::IsTerminator>() || isa<ConvertOp>(op))
    return;
  OpBuilder builder(op);
  auto accumulates = dyn_cast<AccumulatesOpInterface>(op);
  bool takesHalf = accumulates && accumulates.accumulates();
  for (OpOperand &operand : op->getOpOperands())
    if (!takesHalf && !partial.contains(operand.get()) && isHalf(operand.get()))
      operand.set(ConvertOp::create(builder, op->getLoc(), operand.get(),
                                    builder.getF32Type()));
  for (Value result : op->getResults())
    if (!partial.contains(result) && isHalf(result))
      narrow(op, result);
  for (Region &region : op->getRegions())
    widenRegion(region);
}

/// Collects values to widen. Summands in a port or a manual computation are
/// excluded, as their type is stated to be f16. So are summands that are
/// computed with them or resharded to their layout, up to a reshard to the sum:
/// a convert must never round summands.
void Widening::collect(ModuleOp module) {
  llvm::SetVector<Value> stated;
  auto add = [&](Operation *at, Value value) {
    if (isPartialHalf(value))
      (isPort(at) ? stated : partial).insert(value);
  };
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      add(op, result);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        add(op, argument);
    if (isPort(op))
      for (Value operand : op->getOperands())
        add(op, operand);
  });
  for (unsigned i = 0; i < stated.size(); ++i) {
    SmallVector<Operation *> near(stated[i].getUsers());
    if (Operation *op = stated[i].getDefiningOp())
      near.push_back(op);
    for (Operation *op : near)
      for (Value value : valuesOf(op))
        if (isPartialHalf(value))
          stated.insert(value);
  }
  partial.remove_if([&](Value value) { return stated.contains(value); });
}

unsigned Widening::run(ModuleOp module) {
  llvm::SetVector<Operation *> touched;
  collect(module);
  for (Value value : partial) {
    if (Operation *op = value.getDefiningOp())
      touched.insert(op);
    touched.insert_range(value.getUsers());
  }
  for (Value value : partial)
    value.setType(widened(value));
  for (Operation *op : touched)
    widenUses(op);
  return partial.size();
}

namespace {
struct WidenPartialSums
    : weft::impl::WidenPartialSumsPassBase<WidenPartialSums> {
  void runOnOperation() override {
    if (failed(verifyLaidOut(*this, getOperation())))
      return signalPassFailure();
    numWidened += Widening().run(getOperation());
  }
};
} // namespace
