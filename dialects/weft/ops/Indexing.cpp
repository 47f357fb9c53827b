//===- Indexing.cpp - gather, scatter, one_hot ----------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

using namespace mlir;
using namespace weft;

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/IndexingOps.cpp.inc"

/// Checks that the blocks' batch dimensions are the indices' positions.
static LogicalResult checkBatch(Operation *op, const IndexedBlocks &b,
                                StringRef what) {
  SmallVector<int64_t> batch = b.batchDims();
  int64_t expected =
      b.indices.getRank() - (b.indexVectorDim < b.indices.getRank() ? 1 : 0);
  if (static_cast<int64_t>(batch.size()) != expected)
    return op->emitOpError()
           << what << " have " << batch.size()
           << " dimensions beside those of a block, the indices " << expected;
  for (auto [i, dim] : llvm::enumerate(batch))
    if (b.blocks.getDimSize(dim) != b.indices.getDimSize(b.indexDim(i)))
      return op->emitOpError("dim ")
             << dim << " of " << what << " has size "
             << b.blocks.getDimSize(dim) << ", but dim " << b.indexDim(i)
             << " of the indices " << b.indices.getDimSize(b.indexDim(i));
  return success();
}

namespace {
/// Builds the rule of a gather or scatter, dimension by dimension.
struct IndexingRule {
  const IndexedBlocks &b;
  ShardingRule rule;
  TensorFactors tensor, indices, blocks;

  explicit IndexingRule(const IndexedBlocks &b [[clang::lifetimebound]])
      : b(b), tensor(b.tensor.getRank()), indices(b.indices.getRank()),
        blocks(b.blocks.getRank()) {}

  unsigned addFactor(int64_t size, FactorKind kind,
                     ReduceKind reduce = ReduceKind::Sum) {
    rule.factors.push_back({size, kind, reduce});
    return rule.factors.size() - 1;
  }
  /// Adds factors for the indices' positions: of `kind`, except that batching
  /// dimensions pass.
  void addBatch(FactorKind kind, ReduceKind reduce) {
    for (auto [i, dim] : llvm::enumerate(b.batchDims())) {
      int64_t of = -1;
      for (int64_t batching : b.batchingDims)
        if (b.batchOf(batching) == static_cast<int64_t>(i))
          of = batching;
      unsigned factor = addFactor(b.blocks.getDimSize(dim),
                                  of >= 0 ? FactorKind::Pass : kind, reduce);
      blocks[dim] = indices[b.indexDim(i)] = {factor};
      if (of >= 0)
        tensor[of] = {factor};
    }
  }
  /// Adds factors for the tensor: dimensions that blocks cover have the kind
  /// Pass; other dimensions Lookup if they have an index, else Replicated.
  void addTensor(bool startsAreZero) {
    SmallVector<int64_t> dims = b.tensorDims();
    for (int64_t dim = 0; dim < b.tensor.getRank(); ++dim) {
      if (llvm::is_contained(b.batchingDims, dim))
        continue;
      auto block = llvm::find(dims, dim);
      bool passes = block != dims.end() &&
                    b.extent(dim) == b.tensor.getDimSize(dim) &&
                    (startsAreZero || !llvm::is_contained(b.indexMap, dim));
      // Blocks that always start at 0 are not looked up.
      FactorKind kind = passes ? FactorKind::Pass
                        : llvm::is_contained(b.indexMap, dim)
                            ? FactorKind::Lookup
                            : FactorKind::Replicated;
      tensor[dim] = {addFactor(b.tensor.getDimSize(dim), kind,
                               b.tensor.getElementType().isInteger(1)
                                   ? ReduceKind::Or
                                   : ReduceKind::Sum)};
      if (passes)
        blocks[b.blockDims[block - dims.begin()]] = tensor[dim];
    }
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

IndexedBlocks GatherOp::getBlocks() {
  return {typeOf(getInput()),
          typeOf(getIndices()),
          typeOf(getResult()),
          getOffsetDims(),
          getCollapsedSliceDims(),
          getOperandBatchingDims(),
          getStartIndicesBatchingDims(),
          getStartIndexMap(),
          static_cast<int64_t>(getIndexVectorDim())};
}

LogicalResult GatherOp::verify() {
  if (getZeroOutside() && getAbsentOutside()) // (C4)
    return emitOpError("has zero_outside and absent_outside; keep one");
  IndexedBlocks b = getBlocks();
  if (failed(checkEntries(*this, "slice_sizes", getSliceSizes().size(),
                          b.tensor.getRank())) ||
      failed(b.verify(*this))) // (C1)
    return failure();
  SmallVector<int64_t> dims = b.tensorDims();
  for (auto [dim, size] : llvm::enumerate(getSliceSizes())) {
    bool absent = !llvm::is_contained(dims, static_cast<int64_t>(dim));
    int64_t most = absent ? 1 : b.tensor.getDimSize(dim);
    if (size < 0 || size > most || (absent && size != 1)) // (C2)
      return emitOpError("slice size of dim ")
             << dim << " is " << size << ", "
             << (absent ? "collapsed and batching dims have 1, not more than "
                        : "the most is ")
             << most;
  }
  if (failed(checkBatch(*this, b, "results"))) // (C3)
    return failure();
  for (auto [dim, blockDim] : llvm::zip(dims, getOffsetDims()))
    if (b.blocks.getDimSize(blockDim) != getSliceSizes()[dim]) // (C3)
      return emitOpError("dim ") << blockDim << " of the result has size "
                                 << b.blocks.getDimSize(blockDim)
                                 << ", but slices " << getSliceSizes()[dim];
  return success();
}

ShardingRule GatherOp::getShardingRule() {
  IndexedBlocks b = getBlocks();
  IndexingRule built(b);
  built.addBatch(FactorKind::Pass, ReduceKind::Sum);
  built.addTensor(/*startsAreZero=*/!staysOutside());
  ShardingRule rule = std::move(built.rule);
  rule.operands = {built.tensor, built.indices};
  rule.results = {built.blocks};
  rule.linearity = {Linearity::Linear, Linearity::None};
  return rule;
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

IndexedBlocks ScatterOp::getBlocks() {
  return {typeOf(getInput()),
          typeOf(getIndices()),
          typeOf(getUpdates()),
          getUpdateWindowDims(),
          getInsertedWindowDims(),
          getInputBatchingDims(),
          getScatterIndicesBatchingDims(),
          getScatterDimsToOperandDims(),
          static_cast<int64_t>(getIndexVectorDim())};
}

LogicalResult ScatterOp::verify() {
  IndexedBlocks b = getBlocks();
  if (failed(b.verify(*this))) // (C1)
    return failure();
  if (failed(checkBatch(*this, b, "updates"))) // (C2)
    return failure();
  if (failed(checkCombines(*this, stringifyScatterKind(getKind()),
                           b.tensor.getElementType()))) // (C3)
    return failure();
  for (auto [dim, blockDim] : llvm::zip(b.tensorDims(), b.blockDims))
    if (b.blocks.getDimSize(blockDim) > b.tensor.getDimSize(dim)) // (C2)
      return emitOpError("dim ")
             << blockDim << " of updates has size "
             << b.blocks.getDimSize(blockDim) << ", but dim " << dim
             << " of the input only " << b.tensor.getDimSize(dim);
  return success();
}

std::optional<ReduceKind> weft::reductionOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Set:
    return std::nullopt;
  case ScatterKind::Sum:
    return ReduceKind::Sum;
  case ScatterKind::Prod:
    return ReduceKind::Prod;
  case ScatterKind::Max:
    return ReduceKind::Max;
  case ScatterKind::Min:
    return ReduceKind::Min;
  case ScatterKind::And:
    return ReduceKind::And;
  case ScatterKind::Or:
    return ReduceKind::Or;
  }
  return std::nullopt;
}

ShardingRule ScatterOp::getShardingRule() {
  IndexedBlocks b = getBlocks();
  IndexingRule built(b);
  std::optional<ReduceKind> reduce = reductionOf(getKind());
  built.addBatch(reduce ? FactorKind::Reduce : FactorKind::Replicated,
                 reduce.value_or(ReduceKind::Sum));
  built.addTensor(/*startsAreZero=*/false);
  ShardingRule rule = std::move(built.rule);
  rule.operands = {built.tensor, built.indices, built.blocks};
  rule.results = {built.tensor};
  rule.inits = {0};
  if (getKind() == ScatterKind::Sum)
    rule.linearity = {Linearity::JointlyLinear, Linearity::None,
                      Linearity::JointlyLinear};
  return rule;
}

//===----------------------------------------------------------------------===//
// One-hot
//===----------------------------------------------------------------------===//

LogicalResult OneHotOp::verify() {
  RankedTensorType indices = typeOf(getIndices()), result = typeOf(getResult());
  int64_t dim = getDim();
  if (failed(checkDim(*this, dim, result.getRank()))) // (C1)
    return failure();
  SmallVector<int64_t> expected(indices.getShape());
  if (result.getRank() == indices.getRank() + 1)
    expected.insert(expected.begin() + dim, result.getDimSize(dim));
  if (failed(checkShape(*this, expected))) // (C2)
    return failure();
  if (!isa<IntegerType>(indices.getElementType())) // (C3)
    return emitOpError("indices are integers, not ")
           << indices.getElementType();
  if (getOffset() &&
      (typeOf(getOffset()).getRank() != 0 ||
       !typeOf(getOffset()).getElementType().isSignlessInteger(64))) // (C4)
    return emitOpError("the offset is tensor<i64>, not ")
           << getOffset().getType();
  return success();
}

ShardingRule OneHotOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors &indices = rule.operands.emplace_back();
  TensorFactors &result = rule.results.emplace_back();
  for (auto [dim, size] : llvm::enumerate(typeOf(getResult()).getShape())) {
    unsigned factor = dim;
    bool added = dim == getDim();
    rule.factors.push_back(
        {size, added ? FactorKind::Position : FactorKind::Pass});
    result.push_back({factor});
    if (!added)
      indices.push_back({factor});
  }
  rule.operands.resize(getNumOperands());
  return rule;
}

SmallVector<Value> OneHotOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                        TypeRange resultTypes,
                                        const LocalPlacement &placement) {
  Value offset = placement.resultOffset(builder, getLoc(), 0, getDim());
  if (operands.size() > 1)
    offset =
        offset
            ? AddOp::create(builder, getLoc(), operands[1], offset).getResult()
            : operands[1];
  return {OneHotOp::create(builder, getLoc(), resultTypes[0], operands[0],
                           getDimAttr(), offset)};
}
