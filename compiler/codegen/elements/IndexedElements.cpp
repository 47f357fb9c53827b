//===- IndexedElements.cpp - positions that are data ----------------------===//

#include "weft/compiler/codegen/elements/IndexedElements.h"

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

/// The component of the indices' vector for this element of a block.
static FailureOr<Value> startOf(ElementEmitter &e, const IndexedBlocks &b,
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

FailureOr<BlockPosition> positionInTensor(ElementEmitter &e,
                                          const IndexedBlocks &b, Value indices,
                                          const ElementIndex &index,
                                          bool clamped) {
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
    // A block without a start in a dimension is within it.
    bool isWithin =
        !llvm::is_contained(b.indexMap, int64_t(dim)) && b.extent(dim) <= size;
    if (clamped || isWithin)
      continue;
    Value exists = arith::CmpIOp::create(
        builder, e.loc, arith::CmpIPredicate::ult, at, e.constant(size));
    position.inside =
        arith::AndIOp::create(builder, e.loc, position.inside, exists);
    at = arith::SelectOp::create(builder, e.loc, exists, at, e.constant(0));
  }
  return position;
}

static FailureOr<Value> gatheredElement(ElementEmitter &e, GatherOp op,
                                        const ElementIndex &index) {
  Type type = typeOf(op.getResult()).getElementType();
  Value outside = op.getAbsentOutside()
                      ? emitAbsent(e.builder, e.loc, ReduceKind::Sum, type)
                      : zeroOf(e, type);
  if (elementCount(op.getInput()) == 0)
    return outside;
  FailureOr<BlockPosition> position = positionInTensor(
      e, op.getBlocks(), op.getIndices(), index, !op.staysOutside());
  if (failed(position))
    return failure();
  FailureOr<Value> value =
      e.element(op.getInput(), e.makeIndex(position->dims, index.depth));
  if (failed(value) || !op.staysOutside())
    return value;
  e.enterDepth(index.depth);
  return arith::SelectOp::create(e.builder, e.loc, position->inside, *value,
                                 outside)
      .getResult();
}

static FailureOr<Value> oneHotElement(ElementEmitter &e, OneHotOp op,
                                      const ElementIndex &index) {
  SmallVector<Value> dims(index.dims.begin(), index.dims.end());
  dims.erase(dims.begin() + op.getDim());
  FailureOr<Value> hot =
      e.element(op.getIndices(), e.makeIndex(dims, index.depth));
  if (failed(hot))
    return failure();
  FailureOr<Value> position =
      e.shifted(index.dims[op.getDim()], op.getOffset(), index.depth);
  if (failed(position))
    return failure();
  e.enterDepth(index.depth);
  OpBuilder &b = e.builder;
  Value is = arith::CmpIOp::create(
      b, e.loc, arith::CmpIPredicate::eq,
      e.extended(*hot, typeOf(op.getIndices()).getElementType()), *position);
  Type type = typeOf(op.getResult()).getElementType();
  Value one = emitNeutral(b, e.loc, ReduceKind::Prod, type),
        zero = zeroOf(e, type);
  return arith::SelectOp::create(b, e.loc, is, one, zero).getResult();
}

void attachIndexedElements(MLIRContext *context) {
  attachElement<GatherOp, gatheredElement>(context);
  attachElement<OneHotOp, oneHotElement>(context);
}

} // namespace weft::elements
