//===- WidenPartialSums.cpp - sums of f16 over devices in f32 -------------===//
//
//   %p = weft.dot %x, %w           : tensor<16x10xf16, partial sum>
//   %r = weft.reshard %p           : tensor<16x10xf16>
//
// rounds each device's sum to f16, which ends at 65504: 60000 + 60000 - 60000
// would be infinite or 60000, depending on which device has which number.
//
//   %p = weft.dot %x', %w'         : tensor<16x10xf32, partial sum>
//   %s = weft.reshard %p           : tensor<16x10xf32>
//   %r = weft.convert %s           : tensor<16x10xf16>
//
// bf16 has the range of f32: its partial sums stay as short as they are, and
// the collective adds them up in f32.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/Weft.h"
#include "weft/passes/sharding/Passes.h"

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

/// A sum or product of which each device of a group has a part.
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

namespace {
class Widening {
public:
  unsigned run(ModuleOp module);

private:
  void widenUses(Operation *op);
  void narrow(Operation *op, Value result);

  llvm::SetVector<Value> partial;
};
} // namespace

/// The result becomes f32, and what reads it gets f16.
void Widening::narrow(Operation *op, Value result) {
  Type half = cast<RankedTensorType>(result.getType()).getElementType();
  result.setType(widened(result));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto back = ConvertOp::create(builder, op->getLoc(), result, half);
  result.replaceAllUsesExcept(back, back);
}

/// Of an op with a partial operand or result, the other ones are f32, too.
/// Loops and branches carry one value under several names: all are partial or
/// none is. A convert takes any type.
void Widening::widenUses(Operation *op) {
  if (op->getNumRegions() != 0 || op->hasTrait<OpTrait::IsTerminator>() ||
      isa<ConvertOp>(op))
    return;
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (!partial.contains(operand.get()) && isHalf(operand.get()))
      operand.set(ConvertOp::create(builder, op->getLoc(), operand.get(),
                                    builder.getF32Type()));
  for (Value result : op->getResults())
    if (!partial.contains(result) && isHalf(result))
      narrow(op, result);
}

unsigned Widening::run(ModuleOp module) {
  llvm::SetVector<Operation *> touched;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isPartialHalf(result))
        partial.insert(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (!isa<func::FuncOp>(op) && isPartialHalf(argument))
            partial.insert(argument);
  });
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
    numWidened += Widening().run(getOperation());
  }
};
} // namespace
