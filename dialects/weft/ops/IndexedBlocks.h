//===- IndexedBlocks.h - dimension numbers of gather and scatter ----------===//
//
// A gather reads blocks of a tensor and a scatter writes them, each at the
// position that a vector of indices gives. Rows of a table, table 1000x64,
// indices 8:
//
//   blocks [8, 64]: blockDims = {1}     position [p, q] is element q of block p
//   table:          collapsedDims = {0} a block has no such dimension
//   indices:        indexMap = {0}      the index is a position in dimension 0
//
// Dimensions of the blocks that are not in blockDims are, in order, those of
// the indices without indexVectorDim, along which each vector extends. If
// indexVectorDim is the rank of the indices, every index is a vector of one.
// Batching dimensions of the tensor are dimensions of the indices too.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_OPS_INDEXEDBLOCKS_H
#define WEFT_DIALECTS_WEFT_OPS_INDEXEDBLOCKS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace weft {

struct IndexedBlocks {
  mlir::RankedTensorType tensor, indices, blocks;
  llvm::ArrayRef<int64_t> blockDims, collapsedDims, batchingDims,
      indexBatchingDims, indexMap;
  int64_t indexVectorDim = 0;

  /// Dimensions of the blocks that are positions of the indices.
  llvm::SmallVector<int64_t> batchDims() const;
  /// The dimension of the indices that is the i-th of batchDims.
  int64_t indexDim(int64_t i) const { return i < indexVectorDim ? i : i + 1; }
  /// The number of indices in a position.
  int64_t vectorSize() const;
  /// Dimensions of the tensor that blocks have, in the order of blockDims.
  llvm::SmallVector<int64_t> tensorDims() const;
  /// The number, in batchDims, of this batching dimension of the tensor.
  int64_t batchOf(int64_t batchingDim) const;
  /// The block's extent in a dimension of the tensor; 1 if the block lacks it.
  int64_t extent(int64_t tensorDim) const;

  /// Verifies (C1) of both ops.
  llvm::LogicalResult verify(mlir::Operation *op) const;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_INDEXEDBLOCKS_H
