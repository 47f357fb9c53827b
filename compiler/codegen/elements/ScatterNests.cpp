//===- ScatterNests.cpp - loop nests of scatter ---------------------------===//

#include "weft/compiler/codegen/elements/IndexedElements.h"
#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/UpdatedOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

/// Copies the input to the result's memory.
static LogicalResult copyInput(ElementEmitter &e, ScatterOp op) {
  RankedTensorType type = typeOf(op.getResult());
  SmallVector<Value> dims;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    dims.push_back(e.openSharedLoop(dim, size));
  ElementIndex index = e.makeIndex(dims, e.depth());
  FailureOr<Value> input = e.element(op.getInput(), index);
  if (failed(input))
    return failure();
  e.enterDepth(e.depth());
  e.store(*input, e.memoryOf(op.getResult()), type.getElementType(),
          e.linearIndex(type.getShape(), index));
  e.beginNest();
  return success();
}

/// Writes one update after the other to the position of its index, in a copy of
/// the input or in the input's memory. An update outside writes an unchanged
/// element back.
LogicalResult emitScatter(ElementEmitter &e, ScatterOp op) {
  RankedTensorType type = typeOf(op.getResult());
  Type elementType = type.getElementType();
  Value pointer = e.memoryOf(op.getResult());
  if (type.getNumElements() == 0)
    return success();
  if (!updatesInPlace(op) && failed(copyInput(e, op)))
    return failure();
  if (elementCount(op.getUpdates()) == 0)
    return success();
  // Workers share a dimension that each update covers completely.
  RankedTensorType updates = typeOf(op.getUpdates());
  SmallVector<int64_t> sharedAs(updates.getRank(), -1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (int64_t of = nest::updatesDimOf(op, dim); of >= 0 && e.isShared(dim))
      sharedAs[of] = dim;
  SmallVector<Value> dims;
  for (auto [size, dim] : llvm::zip_equal(updates.getShape(), sharedAs))
    dims.push_back(dim < 0 ? e.openLoop(size) : e.openSharedLoop(dim, size));
  ElementIndex index = e.makeIndex(dims, e.depth());
  FailureOr<Value> update = e.element(op.getUpdates(), index);
  FailureOr<BlockPosition> position = positionInTensor(
      e, op.getBlocks(), op.getIndices(), index, /*clamped=*/false);
  if (failed(update) || failed(position))
    return failure();
  e.enterDepth(e.depth());
  Value linear =
      e.linearIndex(type.getShape(), e.makeIndex(position->dims, e.depth()));
  Value old = e.load(pointer, elementType, linear);
  Value next = *update;
  if (std::optional<ReduceKind> reduction = reductionOf(op.getKind()))
    next = emitCombine(e.builder, e.loc, *reduction, elementType, old, next);
  next = arith::SelectOp::create(e.builder, e.loc, position->inside, next, old);
  e.store(next, pointer, elementType, linear);
  e.beginNest();
  return success();
}

} // namespace weft::elements
