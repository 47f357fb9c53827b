//===- KernelSplit.cpp - one launch shared by several workers -------------===//

#include "weft/compiler/codegen/cpu/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

void KernelEmitter::openSplit(nest::ShareAttr share) {
  KernelSplit found{
      share.getDim(), share.getSize(), share.getUnit(), {}, {}, {}, {}, {}};
  // Full units are distributed evenly; remaining rows are added to the last
  // share.
  int64_t units = found.rows / found.unit;
  auto boundary = [&](Value number) -> Value {
    return arith::DivUIOp::create(builder, loc, elements.mul(number, units),
                                  shareCount);
  };
  Value next = elements.add(shareNumber, elements.constant(1));
  found.firstUnit = boundary(shareNumber);
  found.lastUnit = boundary(next);
  found.isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       next, shareCount);
  found.begin = elements.mul(found.firstUnit, found.unit);
  found.end = arith::SelectOp::create(builder, loc, found.isLast,
                                      elements.constant(found.rows),
                                      elements.mul(found.lastUnit, found.unit));
  split = found;
}

/// Opens a loop over blocks of the share's rows around the nests that follow.
void KernelEmitter::openBlocks(nest::ShareAttr share) {
  Value length = elements.constant(share.getBlock());
  Value begin = elements.openStridedLoop(split->begin, split->end, length);
  split->end = arith::MinSIOp::create(builder, loc, elements.add(begin, length),
                                      split->end);
  split->begin = begin;
  elements.beginOuterLoops();
}

Value KernelEmitter::openSplitLoop(int64_t n) {
  if (!split)
    return elements.openLoop(n);
  int64_t each = n / split->rows;
  return elements.openLoop(elements.mul(split->begin, each),
                           elements.mul(split->end, each));
}

Value KernelEmitter::openSharedLoop(int64_t dim, int64_t n) {
  if (!split || split->dim != dim)
    return elements.openLoop(n);
  if (split->unit == 1)
    return openSplitLoop(n);
  // The loops over the share's units, and over a unit's elements, of a known
  // length.
  Value unit = elements.openLoop(split->firstUnit, split->lastUnit);
  Value within = elements.openLoop(split->unit);
  return elements.add(elements.mul(unit, split->unit), within);
}

/// Exports `NAME.share` and `NAME.shares`: see weft_kernel_share_fn in weft.h.
void KernelEmitter::exportShare(LLVM::LLVMFuncOp body, nest::ShareAttr share) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(kernel);
  std::string name = kernel.getName().str();
  Type i32 = builder.getI32Type();
  LLVM::GlobalOp::create(builder, loc, i32, /*isConstant=*/true,
                         LLVM::Linkage::External, name + ".shares",
                         builder.getI32IntegerAttr(share.getShares()));
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  createCaller(name + ".share", body, {pointer, pointer, i64, i64});
}

} // namespace weft::cpu
