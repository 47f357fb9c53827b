//===- GradientsOfIndexing.cpp - derivatives of gather and scatter --------===//

#include "weft/dialects/weft/gradients/GradientBuilder.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

Tensor GradientBuilder::integers(int64_t value, ArrayRef<int64_t> shape,
                                 Type elementType) const {
  auto type = RankedTensorType::get(shape, elementType);
  return make<ConstantOp>(
      DenseElementsAttr::get(type, builder.getIntegerAttr(elementType, value)));
}

Tensor GradientBuilder::count(int64_t dim, ArrayRef<int64_t> shape,
                              Type elementType) const {
  return make<IotaOp>(RankedTensorType::get(shape, elementType),
                      builder.getI64IntegerAttr(dim), Value());
}

Tensor GradientBuilder::putAlong(Value grad, Value positions, int64_t dim,
                                 Value like) const {
  ArrayRef<int64_t> shape = shapeOf(positions);
  SmallVector<int64_t> vectors(shape);
  vectors.push_back(1);
  Value indices = ReshapeOp::create(builder, loc, positions, vectors);
  int64_t rank = shape.size();
  SmallVector<int64_t> others = otherDims(rank, {dim});
  return make<ScatterOp>(like.getType(), ScatterKind::Sum,
                         (*this)(like).number(0), indices, grad,
                         ArrayRef<int64_t>(), ArrayRef<int64_t>{dim}, others,
                         others, ArrayRef<int64_t>{dim}, rank);
}

/// The indices, clamped so that every block is inside the tensor.
static Value clampedIndices(const GradientBuilder &g, Value indices,
                            const IndexedBlocks &b) {
  Type element = b.indices.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  int64_t most = element.isUnsignedInteger()
                     ? APInt::getMaxValue(std::min(width, 63u)).getSExtValue()
                     : APInt::getSignedMaxValue(width).getSExtValue();
  if (element.isUnsignedInteger() && width < 63)
    most = static_cast<int64_t>(APInt::getMaxValue(width).getZExtValue());
  SmallVector<Attribute> last;
  for (int64_t dim : b.indexMap)
    last.push_back(g.builder.getIntegerAttr(
        element, std::min(b.tensor.getDimSize(dim) - b.extent(dim), most)));
  bool isVector = b.indexVectorDim < b.indices.getRank();
  SmallVector<int64_t> shape, dims;
  if (isVector) {
    shape.push_back(last.size());
    dims.push_back(b.indexVectorDim);
  }
  Value limits = ConstantOp::create(
      g.builder, g.loc,
      DenseElementsAttr::get(RankedTensorType::get(shape, element), last));
  Value high =
      BroadcastOp::create(g.builder, g.loc, limits, b.indices.getShape(), dims);
  Value low = g.integers(0, b.indices.getShape(), element);
  return ClampOp::create(g.builder, g.loc, low, indices, high);
}

LogicalResult GatherOp::buildGradient(OpGradients &g) {
  if (!g.wanted[0])
    return success();
  Value indices = getIndices();
  if (!staysOutside() && !getStartIndexMap().empty())
    indices = clampedIndices(g, indices, getBlocks());
  g.operands[0] = ScatterOp::create(
      g.builder, getLoc(), getInput().getType(), ScatterKind::Sum,
      g(getInput()).number(0), indices, g.results[0], getOffsetDims(),
      getCollapsedSliceDims(), getOperandBatchingDims(),
      getStartIndicesBatchingDims(), getStartIndexMap(), getIndexVectorDim());
  return success();
}

/// The elements of a tensor at the scatter's blocks, 0 outside.
static Value gatherBack(OpBuilder &builder, ScatterOp op, Value from) {
  IndexedBlocks b = op.getBlocks();
  SmallVector<int64_t> sizes;
  for (int64_t dim = 0; dim < b.tensor.getRank(); ++dim)
    sizes.push_back(b.extent(dim));
  auto type = RankedTensorType::get(
      b.blocks.getShape(),
      cast<RankedTensorType>(from.getType()).getElementType());
  return GatherOp::create(builder, op.getLoc(), type, from, op.getIndices(),
                          b.blockDims, b.collapsedDims, b.batchingDims,
                          b.indexBatchingDims, b.indexMap, b.indexVectorDim,
                          sizes, /*zero_outside=*/true);
}

/// An i1 tensor: whether an update is the last one at its position. Each update
/// has a number, and the numbers are scattered too.
static Value lastUpdates(const GradientBuilder &g, ScatterOp op) {
  Type i64 = g.builder.getI64Type();
  ArrayRef<int64_t> shape = shapeOf(op.getUpdates());
  int64_t elements =
      cast<RankedTensorType>(op.getUpdates().getType()).getNumElements();
  Tensor flat = g.count(0, {elements}, i64) + 1;
  Value numbers = ReshapeOp::create(g.builder, g.loc, flat, shape);
  Value none = g.integers(0, shapeOf(op.getInput()), i64);
  Value scattered = ScatterOp::create(
      g.builder, g.loc, none.getType(), ScatterKind::Set, none, op.getIndices(),
      numbers, op.getUpdateWindowDims(), op.getInsertedWindowDims(),
      op.getInputBatchingDims(), op.getScatterIndicesBatchingDims(),
      op.getScatterDimsToOperandDims(), op.getIndexVectorDim());
  return g(gatherBack(g.builder, op, scattered)) == g(numbers);
}

LogicalResult ScatterOp::buildGradient(OpGradients &g) {
  Value grad = g.results[0];
  bool sets = getKind() == ScatterKind::Set;
  if (!sets && getKind() != ScatterKind::Sum)
    return emitOpError("no derivative of a scatter with ")
           << stringifyScatterKind(getKind()) << "; set and sum have one";
  if (g.wanted[0])
    g.operands[0] = grad;
  if (g.wanted[0] && sets)
    g.operands[0] = ScatterOp::create(
        g.builder, getLoc(), grad.getType(), getKind(), grad, getIndices(),
        g(getUpdates()).number(0), getUpdateWindowDims(),
        getInsertedWindowDims(), getInputBatchingDims(),
        getScatterIndicesBatchingDims(), getScatterDimsToOperandDims(),
        getIndexVectorDim());
  if (!g.wanted[2])
    return success();
  Value back = gatherBack(g.builder, *this, grad);
  g.operands[2] =
      sets ? Value(select(g(lastUpdates(g, *this)), g(back), 0)) : back;
  return success();
}

} // namespace weft
