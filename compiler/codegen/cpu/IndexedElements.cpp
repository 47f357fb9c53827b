//===- IndexedElements.cpp - gather, scatter and one_hot ------------------===//

#include "weft/compiler/codegen/cpu/WholeNests.h"
#include "weft/dialects/weft/IndexingOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::cpu {

namespace {
/// Where an element of a block lies in the tensor. `dims` exist in any case;
/// `inside` says whether they are the element's.
struct BlockPosition {
  SmallVector<Value> dims;
  Value inside;
};
} // namespace

/// The component of the indices' vector for this element of a block.
static FailureOr<Value> startOf(KernelEmitter &e, const IndexedBlocks &b,
                                Value indices, const ElementIndex &index,
                                int64_t component) {
  SmallVector<Value> dims(b.indices.getRank());
  for (auto [i, dim] : llvm::enumerate(b.batchDims()))
    dims[b.indexDim(i)] = index.dims[dim];
  if (b.indexVectorDim < b.indices.getRank()) {
    e.enterDepth(index.depth);
    dims[b.indexVectorDim] = e.constant(component);
  }
  return e.element(indices, e.makeIndex(dims, index.depth));
}

static FailureOr<BlockPosition>
positionOf(KernelEmitter &e, const IndexedBlocks &b, Value indices,
           const ElementIndex &index, bool clamped) {
  OpBuilder &builder = e.builder;
  BlockPosition position;
  position.dims.resize(b.tensor.getRank());
  SmallVector<int64_t> batch = b.batchDims();
  for (auto [component, dim] : llvm::enumerate(b.indexMap)) {
    FailureOr<Value> start = startOf(e, b, indices, index, component);
    if (failed(start))
      return failure();
    e.enterDepth(index.depth);
    Type type = b.indices.getElementType();
    position.dims[dim] =
        clamped ? e.clampedPosition(*start, type,
                                    b.tensor.getDimSize(dim) - b.extent(dim))
                : e.extended(*start, type);
  }
  e.enterDepth(index.depth);
  auto advance = [&](int64_t dim, Value by) {
    Value &at = position.dims[dim];
    at = at ? e.add(at, by) : by;
  };
  for (int64_t dim : b.batchingDims)
    advance(dim, index.dims[batch[b.batchOf(dim)]]);
  for (auto [dim, blockDim] : llvm::zip(b.tensorDims(), b.blockDims))
    advance(dim, index.dims[blockDim]);
  position.inside =
      arith::ConstantOp::create(builder, e.loc, builder.getBoolAttr(true));
  for (auto [dim, at] : llvm::enumerate(position.dims)) {
    int64_t size = b.tensor.getDimSize(dim);
    if (!at)
      at = e.constant(0);
    if (clamped)
      continue;
    Value exists = arith::CmpIOp::create(
        builder, e.loc, arith::CmpIPredicate::ult, at, e.constant(size));
    position.inside =
        arith::AndIOp::create(builder, e.loc, position.inside, exists);
    at = arith::SelectOp::create(builder, e.loc, exists, at, e.constant(0));
  }
  return position;
}

FailureOr<Value> gatheredElement(KernelEmitter &e, GatherOp op,
                                 const ElementIndex &index) {
  Value zero = zeroOf(e, tensorType(op.getResult()).getElementType());
  if (elementCount(op.getInput()) == 0)
    return zero;
  FailureOr<BlockPosition> position = positionOf(
      e, op.getBlocks(), op.getIndices(), index, !op.getZeroOutside());
  if (failed(position))
    return failure();
  FailureOr<Value> value =
      e.element(op.getInput(), e.makeIndex(position->dims, index.depth));
  if (failed(value) || !op.getZeroOutside())
    return value;
  e.enterDepth(index.depth);
  return arith::SelectOp::create(e.builder, e.loc, position->inside, *value,
                                 zero)
      .getResult();
}

FailureOr<Value> oneHotElement(KernelEmitter &e, OneHotOp op,
                               const ElementIndex &index) {
  SmallVector<Value> dims(index.dims.begin(), index.dims.end());
  dims.erase(dims.begin() + op.getDim());
  FailureOr<Value> hot =
      e.element(op.getIndices(), e.makeIndex(dims, index.depth));
  if (failed(hot))
    return failure();
  Value position = index.dims[op.getDim()];
  if (op.getOffset()) {
    FailureOr<Value> offset = e.element(op.getOffset(), e.makeIndex({}, 0));
    if (failed(offset))
      return failure();
    e.enterDepth(index.depth);
    position = e.add(position, *offset);
  }
  e.enterDepth(index.depth);
  OpBuilder &b = e.builder;
  Value is = arith::CmpIOp::create(
      b, e.loc, arith::CmpIPredicate::eq,
      e.extended(*hot, tensorType(op.getIndices()).getElementType()), position);
  Type type = tensorType(op.getResult()).getElementType();
  Value one = emitNeutral(b, e.loc, ReduceKind::Prod, type),
        zero = zeroOf(e, type);
  return arith::SelectOp::create(b, e.loc, is, one, zero).getResult();
}

static Value updatedElement(KernelEmitter &e, ScatterKind kind,
                            Type elementType, Value old, Value update) {
  switch (kind) {
  case ScatterKind::Set:
    return update;
  case ScatterKind::Sum:
    return emitCombine(e.builder, e.loc, ReduceKind::Sum, elementType, old,
                       update);
  case ScatterKind::Prod:
    return emitCombine(e.builder, e.loc, ReduceKind::Prod, elementType, old,
                       update);
  case ScatterKind::Max:
    return emitCombine(e.builder, e.loc, ReduceKind::Max, elementType, old,
                       update);
  case ScatterKind::Min:
    return emitCombine(e.builder, e.loc, ReduceKind::Min, elementType, old,
                       update);
  case ScatterKind::And:
    return emitCombine(e.builder, e.loc, ReduceKind::And, elementType, old,
                       update);
  case ScatterKind::Or:
    return emitCombine(e.builder, e.loc, ReduceKind::Or, elementType, old,
                       update);
  }
  return update;
}

/// The input is copied; then one update after the other is put where its index
/// says. What lies outside writes an element back as it was.
LogicalResult emitScatter(KernelEmitter &e, ScatterOp op) {
  RankedTensorType type = tensorType(op.getResult());
  Type elementType = type.getElementType();
  Value pointer = e.memoryOf(op.getResult());
  if (type.getNumElements() == 0)
    return success();
  SmallVector<Value> dims;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    dims.push_back(e.openPartLoop(dim, size));
  ElementIndex index = e.makeIndex(dims, e.depth());
  FailureOr<Value> input = e.element(op.getInput(), index);
  if (failed(input))
    return failure();
  e.enterDepth(e.depth());
  e.store(*input, pointer, elementType, e.linearIndex(type.getShape(), index));
  e.beginNest();
  if (elementCount(op.getUpdates()) == 0)
    return success();
  // The part's share of a dimension that updates have whole.
  const std::optional<KernelSplit> &split = e.rowSplit();
  int64_t shared = split ? updatesDimOf(op, split->dim) : -1;
  dims.clear();
  for (auto [dim, size] :
       llvm::enumerate(tensorType(op.getUpdates()).getShape()))
    dims.push_back(static_cast<int64_t>(dim) == shared
                       ? e.openPartLoop(split->dim, size)
                       : e.openLoop(size));
  index = e.makeIndex(dims, e.depth());
  FailureOr<Value> update = e.element(op.getUpdates(), index);
  FailureOr<BlockPosition> position =
      positionOf(e, op.getBlocks(), op.getIndices(), index, /*clamped=*/false);
  if (failed(update) || failed(position))
    return failure();
  e.enterDepth(e.depth());
  Value linear =
      e.linearIndex(type.getShape(), e.makeIndex(position->dims, e.depth()));
  Value old = e.load(pointer, elementType, linear);
  Value next = updatedElement(e, op.getKind(), elementType, old, *update);
  next = arith::SelectOp::create(e.builder, e.loc, position->inside, next, old);
  e.store(next, pointer, elementType, linear);
  e.beginNest();
  return success();
}

} // namespace weft::cpu
