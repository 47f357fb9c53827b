//===- IndexedBlocks.cpp - dimension numbers of gather and scatter --------===//

#include "weft/dialects/weft/ops/IndexedBlocks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace weft {

SmallVector<int64_t> IndexedBlocks::batchDims() const {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < blocks.getRank(); ++dim)
    if (!llvm::is_contained(blockDims, dim))
      dims.push_back(dim);
  return dims;
}

int64_t IndexedBlocks::vectorSize() const {
  return indexVectorDim == indices.getRank()
             ? 1
             : indices.getDimSize(indexVectorDim);
}

SmallVector<int64_t> IndexedBlocks::tensorDims() const {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < tensor.getRank(); ++dim)
    if (!llvm::is_contained(collapsedDims, dim) &&
        !llvm::is_contained(batchingDims, dim))
      dims.push_back(dim);
  return dims;
}

int64_t IndexedBlocks::batchOf(int64_t batchingDim) const {
  int64_t dim = indexBatchingDims[llvm::find(batchingDims, batchingDim) -
                                  batchingDims.begin()];
  return dim < indexVectorDim ? dim : dim - 1;
}

int64_t IndexedBlocks::extent(int64_t tensorDim) const {
  for (auto [dim, blockDim] : llvm::zip(tensorDims(), blockDims))
    if (dim == tensorDim)
      return blocks.getDimSize(blockDim);
  return 1;
}

/// Checks that each dim is in the rank and listed once, and the order if asked.
static LogicalResult checkList(Operation *op, StringRef what,
                               ArrayRef<int64_t> dims, int64_t rank,
                               bool rising) {
  llvm::SmallBitVector seen(rank);
  int64_t previous = -1;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError("dim ")
             << dim << " of " << what << " is out of the rank " << rank;
    if (seen.test(dim) || (rising && dim < previous))
      return op->emitOpError("dims of ")
             << what << " should be distinct"
             << (rising ? " and rise, but " : ", but ") << dim << " follows "
             << previous;
    seen.set(dim);
    previous = dim;
  }
  return success();
}

static LogicalResult checkBatching(Operation *op, const IndexedBlocks &b) {
  if (b.batchingDims.size() != b.indexBatchingDims.size())
    return op->emitOpError("has ")
           << b.batchingDims.size() << " batching dims of the input, but "
           << b.indexBatchingDims.size() << " of the indices";
  for (auto [dim, indexDim] : llvm::zip(b.batchingDims, b.indexBatchingDims))
    if (indexDim == b.indexVectorDim ||
        b.tensor.getDimSize(dim) != b.indices.getDimSize(indexDim))
      return op->emitOpError("batching dim ")
             << dim << " of the input has size " << b.tensor.getDimSize(dim)
             << ", which is not that of dim " << indexDim << " of the indices";
  return success();
}

LogicalResult IndexedBlocks::verify(Operation *op) const {
  int64_t rank = tensor.getRank(), indexRank = indices.getRank();
  SmallVector<int64_t> absent(collapsedDims);
  llvm::append_range(absent, batchingDims);
  llvm::sort(absent);
  if (!isa<IntegerType>(indices.getElementType())) // (C1)
    return op->emitOpError("indices are integers, not ")
           << indices.getElementType();
  if (indexVectorDim < 0 || indexVectorDim > indexRank) // (C1)
    return op->emitOpError("index_vector_dim ")
           << indexVectorDim << " is out of the indices' rank " << indexRank;
  if (failed(checkList(op, "blocks", blockDims, blocks.getRank(), true)) ||
      failed(checkList(op, "the input", absent, rank, true)) ||
      failed(checkList(op, "the index map", indexMap, rank, false)) ||
      failed(
          checkList(op, "the indices", indexBatchingDims, indexRank, false)) ||
      failed(checkBatching(op, *this))) // (C1)
    return failure();
  if (static_cast<int64_t>(indexMap.size()) != vectorSize()) // (C1)
    return op->emitOpError("maps ")
           << indexMap.size() << " indices, but a vector has " << vectorSize();
  if (tensorDims().size() != blockDims.size()) // (C1)
    return op->emitOpError("blocks have ")
           << blockDims.size() << " dimensions, but the input has "
           << tensorDims().size() << " that are neither collapsed nor batching";
  return success();
}

} // namespace weft
