//===- Indexing.cpp - the meaning of gather, scatter and one_hot ----------===//

#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/passes/interpret/Meanings.h"

#include <algorithm>

using namespace mlir;

namespace weft {

namespace {

/// Positions of the elements of indexed blocks in a tensor.
class BlockPositions {
public:
  BlockPositions(const IndexedBlocks &b [[clang::lifetimebound]],
                 const Tensor &indices [[clang::lifetimebound]], bool clamped)
      : b(b), indices(indices), clamped(clamped), batch(b.batchDims()),
        tensorDims(b.tensorDims()) {}

  /// The row-major position of a block's element, -1 outside.
  int64_t of(ArrayRef<int64_t> element) const;

private:
  int64_t start(ArrayRef<int64_t> element, int64_t component) const;

  const IndexedBlocks &b;
  const Tensor &indices;
  bool clamped;
  SmallVector<int64_t> batch, tensorDims;
};

int64_t BlockPositions::start(ArrayRef<int64_t> element,
                              int64_t component) const {
  SmallVector<int64_t, 4> strides = stridesOf(indices.getShape());
  int64_t offset = 0;
  for (auto [i, dim] : llvm::enumerate(batch))
    offset += element[dim] * strides[b.indexDim(i)];
  if (b.indexVectorDim < static_cast<int64_t>(strides.size()))
    offset += component * strides[b.indexVectorDim];
  int64_t value = indices.integer(offset);
  // Unsigned 64-bit values above INT64_MAX are beyond the end of any dimension.
  return indices.isUnsigned() && value < 0 ? INT64_MAX / 2 : value;
}

int64_t BlockPositions::of(ArrayRef<int64_t> element) const {
  SmallVector<int64_t> position(b.tensor.getRank(), 0);
  for (auto [component, dim] : llvm::enumerate(b.indexMap)) {
    position[dim] = start(element, component);
    if (clamped)
      position[dim] = std::clamp<int64_t>(
          position[dim], 0, b.tensor.getDimSize(dim) - b.extent(dim));
  }
  for (int64_t dim : b.batchingDims)
    position[dim] += element[batch[b.batchOf(dim)]];
  for (auto [dim, blockDim] : llvm::zip(tensorDims, b.blockDims))
    position[dim] += element[blockDim];
  int64_t result = 0;
  for (auto [dim, at] : llvm::enumerate(position)) {
    if (at < 0 || at >= b.tensor.getDimSize(dim))
      return -1;
    result = result * b.tensor.getDimSize(dim) + at;
  }
  return result;
}

Tensor gather(GatherOp op, Operands in) {
  IndexedBlocks b = op.getBlocks();
  BlockPositions positions(b, *in[1], !op.staysOutside());
  Tensor result = op.getAbsentOutside()
                      ? absentTensor(ReduceKind::Sum, b.blocks)
                      : Tensor(b.blocks);
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t from = positions.of(indexOf(i, result.getShape()));
    if (from >= 0)
      result.copy(i, *in[0], from);
  }
  return result;
}

Tensor scatter(ScatterOp op, Operands in) {
  IndexedBlocks b = op.getBlocks();
  BlockPositions positions(b, *in[1], /*clamped=*/false);
  constexpr ReduceKind kinds[] = {
      ReduceKind::Sum, ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max,
      ReduceKind::Min, ReduceKind::And, ReduceKind::Or};
  Tensor result = *in[0];
  for (int64_t i = 0; i < in[2]->size(); ++i) {
    int64_t to = positions.of(indexOf(i, in[2]->getShape()));
    if (to < 0)
      continue;
    if (op.getKind() == ScatterKind::Set)
      result.copy(to, *in[2], i);
    else
      combineInto(kinds[static_cast<unsigned>(op.getKind())], result, to,
                  *in[2], i);
  }
  return result;
}

Tensor oneHot(OneHotOp op, Operands in) {
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  int64_t first = in.size() > 1 ? in[1]->integer(0) : 0;
  int64_t dim = op.getDim(), depth = result.getShape()[dim];
  SmallVector<int64_t, 4> strides = stridesOf(result.getShape());
  for (int64_t i = 0; i < in[0]->size(); ++i) {
    int64_t at = in[0]->integer(i) - first;
    if (at < 0 || at >= depth)
      continue;
    int64_t minor = i % strides[dim], major = i / strides[dim];
    int64_t to = (major * depth + at) * strides[dim] + minor;
    if (isDifferentiable(result.getElementType()))
      result.setNumber(to, 1);
    else
      result.setInteger(to, 1);
  }
  return result;
}

} // namespace

std::optional<Tensor> meaningOfIndexing(Operation *op, Operands in) {
  if (auto gatherOp = dyn_cast<GatherOp>(op))
    return gather(gatherOp, in);
  if (auto scatterOp = dyn_cast<ScatterOp>(op))
    return scatter(scatterOp, in);
  if (auto oneHotOp = dyn_cast<OneHotOp>(op))
    return oneHot(oneHotOp, in);
  return std::nullopt;
}

} // namespace weft
