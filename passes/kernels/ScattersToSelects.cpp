//===- ScattersToSelects.cpp - scatters with one update for an element ----===//
//
//   scatter sum of zeros at ids[i] with u[i], row by row    (a batching dim)
//
//   result[i, j] = j == ids[i] ? 0 + u[i] : 0
//
// The dimension numbers say which updates may reach an element. If that is one,
// and the input is computed where it is needed, the result is, too.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SCATTERSTOSELECTS
#include "weft/passes/kernels/Passes.h.inc"

/// Whether elements are computed without memory of the value's size.
static bool isGenerated(Value value) {
  Operation *op = value.getDefiningOp();
  DenseElementsAttr data;
  if (op && matchPattern(op, m_Constant(&data)))
    return data.isSplat();
  if (!op || !isElementSource(op))
    return cast<RankedTensorType>(value.getType()).getNumElements() == 1;
  return llvm::all_of(op->getOperands(), isGenerated);
}

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// For each dimension of the updates the dimension of the result that has its
/// positions, -1 for a single position; nothing if an element may get several
/// updates, or if a block covers a part of a dimension.
static std::optional<SmallVector<int64_t>> dimsOfUpdates(ScatterOp op) {
  IndexedBlocks b = op.getBlocks();
  SmallVector<int64_t> batch = b.batchDims(), of(b.blocks.getRank(), -1);
  for (int64_t dim : b.batchingDims)
    of[batch[b.batchOf(dim)]] = dim;
  for (auto [dim, blockDim] : llvm::zip(b.tensorDims(), b.blockDims))
    if (!llvm::is_contained(b.indexMap, dim))
      of[blockDim] = dim;
  for (auto [dim, result] : llvm::enumerate(of)) {
    int64_t size = b.blocks.getDimSize(dim);
    if (size != (result < 0 ? 1 : b.tensor.getDimSize(result)))
      return std::nullopt;
  }
  // The position is 0 along a dimension without blocks or indices.
  for (int64_t dim = 0; dim < b.tensor.getRank(); ++dim)
    if (!llvm::is_contained(of, dim) && !llvm::is_contained(b.indexMap, dim) &&
        b.tensor.getDimSize(dim) != 1)
      return std::nullopt;
  return of;
}

namespace {
/// Builds the elements of a scatter from those of its operands.
struct Elements {
  OpBuilder builder;
  Location loc;
  ScatterOp op;
  IndexedBlocks b;

  explicit Elements(ScatterOp op)
      : builder(op), loc(op.getLoc()), op(op), b(op.getBlocks()) {}

  /// The value for all elements of the result; dimension i of the value is
  /// dimension dims[i] of the result, or has one position if that is -1.
  Value spread(Value value, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> kept, shape, order;
    for (auto [size, dim] : llvm::zip_equal(tensorOf(value).getShape(), dims))
      if (dim >= 0) {
        kept.push_back(dim);
        shape.push_back(size);
      }
    if (kept.size() < dims.size())
      value = ReshapeOp::create(builder, loc, value, shape);
    order = llvm::to_vector(llvm::seq<int64_t>(0, kept.size()));
    llvm::sort(order, [&](int64_t x, int64_t y) { return kept[x] < kept[y]; });
    if (!llvm::is_sorted(kept))
      value = TransposeOp::create(builder, loc, value, order);
    llvm::sort(kept);
    return BroadcastOp::create(builder, loc, value, b.tensor.getShape(), kept);
  }

  /// Whether the position along a dimension is that component of the index.
  Value isAt(int64_t component, ArrayRef<int64_t> dimsOf) {
    Value start = op.getIndices();
    SmallVector<int64_t> dims;
    for (int64_t dim : b.batchDims())
      dims.push_back(dimsOf[dim]);
    if (b.indexVectorDim < b.indices.getRank()) {
      SmallVector<int64_t> from(b.indices.getRank(), 0),
          to(b.indices.getShape()), by(b.indices.getRank(), 1);
      from[b.indexVectorDim] = component;
      to[b.indexVectorDim] = component + 1;
      if (b.vectorSize() > 1)
        start = SliceOp::create(builder, loc, start, from, to, by);
      dims.insert(dims.begin() + b.indexVectorDim, -1);
    }
    // Indices of 32 bits are compared as they are. Others become i64, where
    // unsigned numbers above its largest are negative: beyond any dimension.
    int64_t dim = b.indexMap[component];
    Type element = builder.getI64Type();
    if (b.indices.getElementType().isSignlessInteger(32) &&
        b.tensor.getDimSize(dim) <= INT32_MAX)
      element = b.indices.getElementType();
    else if (b.indices.getElementType() != element)
      start = ConvertOp::create(builder, loc, start, element);
    Value position =
        IotaOp::create(builder, loc, b.tensor.clone(element), dim, Value());
    return CompareOp::create(builder, loc, CompareKind::EQ, position,
                             spread(start, dims));
  }

  Value combined(Value input, Value update) {
    switch (op.getKind()) {
    case ScatterKind::Set:
      return update;
    case ScatterKind::Sum:
      return AddOp::create(builder, loc, input, update);
    case ScatterKind::Prod:
      return MulOp::create(builder, loc, input, update);
    case ScatterKind::Max:
      return MaxOp::create(builder, loc, input, update);
    case ScatterKind::Min:
      return MinOp::create(builder, loc, input, update);
    case ScatterKind::And:
      return AndOp::create(builder, loc, input, update);
    case ScatterKind::Or:
      return OrOp::create(builder, loc, input, update);
    }
    llvm_unreachable("all kinds are handled");
  }

  Value all(ArrayRef<int64_t> dimsOf) {
    Value input = op.getInput(), isHit;
    for (int64_t i = 0, end = b.indexMap.size(); i < end; ++i) {
      Value is = isAt(i, dimsOf);
      isHit = isHit ? AndOp::create(builder, loc, isHit, is).getResult() : is;
    }
    Value next = combined(input, spread(op.getUpdates(), dimsOf));
    return isHit
               ? SelectOp::create(builder, loc, isHit, next, input).getResult()
               : next;
  }
};
} // namespace

namespace {
struct ScattersToSelectsPass
    : impl::ScattersToSelectsBase<ScattersToSelectsPass> {
  using ScattersToSelectsBase::ScattersToSelectsBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    auto limits = nest::targetLimits(target);
    if (!limits || limits->isOfHost())
      return;
    SmallVector<std::pair<ScatterOp, SmallVector<int64_t>>> found;
    getOperation().walk([&](ScatterOp op) {
      if (!isGenerated(op.getInput()))
        return;
      if (auto dims = dimsOfUpdates(op))
        found.emplace_back(op, *dims);
    });
    for (auto &[op, dims] : found) {
      Value elements = Elements(op).all(dims);
      op.replaceAllUsesWith(elements);
      op.erase();
    }
    scatters += found.size();
  }
};
} // namespace
} // namespace weft
