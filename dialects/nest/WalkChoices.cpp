//===- WalkChoices.cpp - how a target computes ops with loops fastest -----===//

#include "weft/dialects/nest/WalkChoices.h"

#include "weft/dialects/nest/ContractionShape.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace weft::nest {

Attribute ownWalk(Operation *op) { return OwnAttr::get(op->getContext()); }

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> reducedSizes(ReduceOp op) {
  SmallVector<int64_t> sizes;
  for (int64_t dim : op.getDims())
    sizes.push_back(typeOf(op.getInput()).getDimSize(dim));
  return sizes;
}

static bool isLongSum(ReduceOp op) {
  bool rounds = isa<FloatType>(typeOf(op.getResult()).getElementType());
  return op.getKind() == ReduceKind::Sum && rounds &&
         llvm::product_of(reducedSizes(op)) > kLongSum;
}

/// A block length near `wanted`, which divides n if possible.
static int64_t blockLength(int64_t n, int64_t wanted) {
  for (int64_t length = wanted; length > wanted / 4; --length)
    if (n % length == 0)
      return length;
  return wanted;
}

/// The positions of a block in each dimension, about the square root of all
/// together, so that a block has as many numbers as there are blocks, but at
/// least about kSumBlock: whole dimensions from the last one on, a part of the
/// next, and one position of the others.
static SmallVector<int64_t> blocksOfRow(SmallVector<int64_t> sizes) {
  auto root = int64_t(std::sqrt(double(llvm::product_of(sizes))));
  int64_t wanted = std::max(kSumBlock, root), inside = 1;
  for (int64_t &size : llvm::reverse(sizes)) {
    int64_t left = wanted / inside;
    if (size > left) {
      size = blockLength(size, std::max<int64_t>(left, 1));
      inside = wanted + 1; // One position of each dimension in front.
    } else {
      inside *= size;
    }
  }
  return sizes;
}

/// The most elements of a row of several dimensions: it stays in L1.
static constexpr int64_t kMostOfRow = 512;

unsigned dimsOfRow(ReduceOp op) {
  ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape();
  int64_t behind = typeOf(op.getInput()).getRank();
  if (!op.getDims().empty())
    behind -= 1 + *llvm::max_element(op.getDims());
  if (shape.empty() || behind == 0)
    return shape.empty() ? 0 : 1;
  unsigned dims = 1;
  int64_t elements = shape.back();
  while (dims < behind &&
         elements * shape[shape.size() - 1 - dims] <= kMostOfRow)
    elements *= shape[shape.size() - 1 - dims++];
  return dims;
}

int64_t elementsOfRow(ReduceOp op) {
  return llvm::product_of(
      typeOf(op.getResult()).getShape().take_back(dimsOfRow(op)));
}

bool isOneRow(Operation *op, Attribute walk) {
  auto reduce = dyn_cast<ReduceOp>(op);
  auto reduction = dyn_cast<ReductionAttr>(walk);
  return reduce && reduction && reduction.getInto() == Accumulate::Row &&
         dimsOfRow(reduce) == typeOf(reduce.getResult()).getRank();
}

bool fillsVectors(int64_t size, int64_t lanes) {
  return lanes > 1 && size % lanes == 0;
}

int64_t innerElements(ValueRange stored, int64_t lanes, IsInMemory isInMemory) {
  ArrayRef<int64_t> shape = typeOf(stored[0]).getShape();
  llvm::SetVector<Value> seen(stored.begin(), stored.end());
  for (unsigned i = 0; i < seen.size(); ++i) {
    Operation *op = seen[i].getDefiningOp();
    if (!op || (i >= stored.size() && isInMemory(seen[i])) ||
        typeOf(seen[i]).getShape() != shape)
      continue;
    if (op->hasTrait<OpTrait::Elementwise>())
      seen.insert_range(op->getOperands());
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!reshape || isInMemory(reshape.getInput()))
      continue;
    ArrayRef<int64_t> divided = typeOf(reshape.getInput()).getShape();
    if (!shape.empty() && divided.size() == shape.size() + 1 &&
        divided.drop_back(2) == shape.drop_back() &&
        fillsVectors(divided.back(), lanes))
      return divided.back();
  }
  return 1;
}

Attribute chooseReduction(ReduceOp op, const TargetLimits &limits, IsInMemory) {
  MLIRContext *context = op.getContext();
  RankedTensorType type = typeOf(op.getResult());
  int64_t last = typeOf(op.getInput()).getRank() - 1;
  // Floats of 8 bits or fewer are too narrow for sums in memory.
  bool isShort = isa<FloatType>(type.getElementType()) &&
                 bytesOf(type.getElementType()) == 1;
  SmallVector<int64_t> blocks;
  if (op.getDims().empty() || llvm::is_contained(op.getDims(), last) ||
      isShort) {
    if (isLongSum(op))
      for (int64_t size : reducedSizes(op))
        blocks.push_back(size <= kLongSum ? size : blockLength(size, kLongSum));
    if (blocks == reducedSizes(op))
      blocks.clear();
    return ReductionAttr::get(context, Accumulate::Register, blocks);
  }
  int64_t row = elementsOfRow(op) * bytesOf(type.getElementType());
  if (isLongSum(op) && row <= limits.storedBytes / 4)
    blocks = blocksOfRow(reducedSizes(op));
  return ReductionAttr::get(context, Accumulate::Row, blocks);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The largest block, in elements of f32. On an EPYC with 32 KiB of L1 and 512
/// KiB of L2 a panel of rhs is 16 KiB, the rows of lhs are 120 KiB, and the
/// rows of rhs 512.
static constexpr int64_t kDepth = 256, kRows = 120, kColumns = 512;
/// Vectors of columns in a tile: with 2, its rows fill the registers.
static constexpr int64_t kTileVectors = 2;
/// The least multiply-adds of a packed contraction: below them caches hold the
/// operands, and packing saves 0.03 ms but takes 50 ms more to compile. Packing
/// one matrix of a batch pays sooner; below kLeastDepth steps storing a tile
/// costs as much as computing it.
static constexpr int64_t kPackedMultiplyAdds = 4 << 20,
                         kMatrixMultiplyAdds = 256 << 10, kLeastDepth = 32;
/// The least multiply-adds for strides that suit no tile: plain loops do 0.2 to 1
/// multiply-adds a ns, packed loops 30 to 48.
static constexpr int64_t kAwkwardMultiplyAdds = 64 << 10;
/// The most multiply-adds for which plain loops are faster than a tile, which
/// loads with masks and adds up lanes: 2x2 matrices take a fifth of the time.
static constexpr int64_t kTinyMultiplyAdds = 64;
/// What a panel of rows costs a step besides its products, in cycles.
static constexpr double kCyclesOfPanel = 0.5;
/// The least number of row tiles in a share: each share packs rhs, which then
/// takes a tenth of its time.
static constexpr int64_t kShareTiles = 4;

/// The bytes of a right operand above which its rows come from a far cache, one
/// by one for each tile of columns; the cycles of a row, and those of a line of
/// it. 2048 numbers times 2048 x 2048 took 0.40 ms with tiles of 4 vectors, 0.34
/// with 8, 0.22 with 16; 8 x 1024 times 1024 x 1024 0.19 with 4 x 2, 0.09 with
/// 8 x 3 (EPYC with AVX-512, one core).
static constexpr int64_t kFarBytes = 256 * 1024, kLineBytes = 64;
static constexpr double kFarRow = 9, kFarLine = 2.9;
/// The most vectors of columns in a tile of several rows, and of one row, whose
/// products read them from memory.
static constexpr int64_t kMostVectors = 4, kMostOfOneRow = 16;

/// Whether a tile fits in the registers, together with a vector of each column
/// and one factor.
static bool fitsRegisters(int64_t rows, int64_t vectors, int64_t registers) {
  if (rows == 1)
    return vectors <= kMostOfOneRow && vectors + 2 <= registers;
  return vectors <= kMostVectors && rows * vectors + vectors + 1 <= registers;
}

/// The cheapest tile that fits in the registers; `bytes` are those of an
/// element.
static TileSize columnTile(const TileLoops &loops, int64_t lanes, int64_t bytes,
                           int64_t registers) {
  int64_t vectors = llvm::divideCeil(loops.column.size, lanes);
  bool isFar = loops.column.size * loops.inner.size * bytes > kFarBytes;
  auto tileCycles = [&](int64_t rows, int64_t v) {
    double lines = double(v * lanes * bytes) / kLineBytes;
    return std::max(tileCost(rows, v),
                    isFar ? kFarRow + kFarLine * lines : 0.0);
  };
  TileSize best{1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t nv = 1; nv <= std::min(vectors, kMostOfOneRow); ++nv)
    for (int64_t mr = 1; mr <= std::min<int64_t>(loops.row.size, 16); ++mr) {
      if (!fitsRegisters(mr, nv, registers))
        continue;
      int64_t fullTiles = loops.row.size / mr, fullColumns = vectors / nv;
      auto rows = [&](int64_t v) {
        return fullTiles * tileCycles(mr, v) +
               (loops.row.size % mr ? tileCycles(loops.row.size % mr, v) : 0);
      };
      double cost =
          fullColumns * rows(nv) + (vectors % nv ? rows(vectors % nv) : 0);
      if (cost < least) {
        least = cost;
        best = {mr, nv};
      }
    }
  return best;
}

/// A tile with as many accumulators as lanes: their sums are one vector.
static TileSize depthTile(int64_t lanes, int64_t registers) {
  return registers >= 32 && lanes == 16
             ? TileSize{4, 4}
             : TileSize{2, std::max<int64_t>(lanes / 2, 1)};
}

/// The most rows of a packed tile: sums, a vector of each column and one factor
/// fit in registers.
static int64_t mostPackedRows(const TargetLimits &limits) {
  return (limits.vectorRegisters - kTileVectors - 1) / kTileVectors;
}

/// The rows of a packed tile with which the panels of all rows take fewest
/// cycles: of 128 rows, 10 panels of 13 take less than 10 of 14.
static int64_t packedRows(int64_t rows, const TargetLimits &limits) {
  int64_t most = mostPackedRows(limits), best = most;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t width = most; width > most * 2 / 3; --width) {
    double cost = double(llvm::divideCeil(rows, width)) *
                  (tileCost(width, kTileVectors) + kCyclesOfPanel);
    if (cost < least) {
      least = cost;
      best = width;
    }
  }
  return best;
}

static bool isTiny(const ContractionShape &shape) {
  return positionsOf(shape.batch) * positionsOf(shape.rows) *
             positionsOf(shape.columns) * positionsOf(shape.contract) <=
         kTinyMultiplyAdds;
}

static bool paysPacking(const ContractionShape &shape,
                        const TargetLimits &limits, bool isAwkward) {
  int64_t rows = positionsOf(shape.rows), columns = positionsOf(shape.columns),
          depth = positionsOf(shape.contract),
          ofMatrix = rows * columns * depth;
  if (isAwkward)
    return ofMatrix >= kAwkwardMultiplyAdds;
  return rows >= 4 * mostPackedRows(limits) &&
         columns >= kTileVectors * limits.lanes(shape.resultType) &&
         depth >= kLeastDepth && ofMatrix >= kMatrixMultiplyAdds &&
         ofMatrix * positionsOf(shape.batch) >= kPackedMultiplyAdds;
}

/// The size of equal blocks of at most `most` positions; a multiple of `unit`.
static int64_t blockSize(int64_t size, int64_t most, int64_t unit) {
  int64_t blocks = llvm::divideCeil(size, std::max(most / unit * unit, unit));
  return llvm::alignTo(llvm::divideCeil(size, std::max<int64_t>(blocks, 1)),
                       unit);
}

static Attribute packedWalk(MLIRContext *context, const ContractionShape &shape,
                            const TargetLimits &limits) {
  int64_t lanes = limits.lanes(shape.resultType),
          bytes = bytesOf(shape.resultType),
          rows = packedRows(positionsOf(shape.rows), limits);
  int64_t blocks[] = {
      blockSize(positionsOf(shape.rows), kRows * 4 / bytes, rows),
      blockSize(positionsOf(shape.columns), kColumns * 4 / bytes,
                kTileVectors * lanes),
      blockSize(positionsOf(shape.contract), kDepth, lanes)};
  return ContractionAttr::get(context, ContractionForm::Packed,
                              {rows, kTileVectors}, blocks);
}

Attribute chooseContraction(DotOp op, const TargetLimits &limits,
                            IsInMemory isInMemory) {
  MLIRContext *context = op.getContext();
  auto make = [&](ContractionForm form, ArrayRef<int64_t> tile) {
    return ContractionAttr::get(context, form, tile, {});
  };
  std::optional<ContractionShape> shape = contractionShape(op, isInMemory);
  if (!limits.hasTiles || !shape ||
      typeOf(op.getResult()).getNumElements() == 0 ||
      !hasVectorArithmetic(shape->resultType))
    return make(ContractionForm::Plain, {});
  std::optional<TileLoops> loops;
  if (hasVectorLoads(shape->lhsType) && hasVectorLoads(shape->rhsType))
    loops = tileLoops(*shape);
  bool suits =
      loops && (loops->alongColumns || loops->alongDepth) && !isTiny(*shape);
  if (paysPacking(*shape, limits, !suits))
    return packedWalk(context, *shape, limits);
  if (!suits)
    return make(ContractionForm::Plain, {});
  int64_t lanes = limits.lanes(shape->resultType),
          registers = limits.vectorRegisters;
  bool isDeep =
      loops->alongDepth && (!loops->alongColumns || loops->column.size == 1);
  TileSize tile =
      isDeep ? depthTile(lanes, registers)
             : columnTile(*loops, lanes, bytesOf(shape->resultType), registers);
  return make(isDeep ? ContractionForm::Depth : ContractionForm::Columns,
              {tile.rows, tile.columns});
}

/// The least rows for which a thin right operand is turned: they share its copy.
static constexpr int64_t kLeastThinRows = 64;

std::optional<SmallVector<int64_t>> storedOrderOf(DotOp op, unsigned operand,
                                                  const TargetLimits &limits,
                                                  IsInMemory isInMemory) {
  std::optional<ContractionShape> shape = contractionShape(op, isInMemory);
  if (operand == 0 || !limits.hasTiles || !shape || !shape->batch.empty() ||
      shape->contract.size() != 1 || shape->columns.size() != 1 ||
      !hasVectorArithmetic(shape->resultType) ||
      !hasVectorLoads(shape->lhsType) || !hasVectorLoads(shape->rhsType))
    return std::nullopt;
  // Columns that fill at most half a vector, of rows that lie along the
  // contraction: vectors along that waste no lanes.
  const DotDimension &terms = shape->contract[0];
  int64_t lanes = limits.lanes(shape->resultType);
  if (2 * shape->columns[0].size > lanes || terms.size < 4 * lanes ||
      terms.lhs != 1 || terms.rhs == 1 ||
      positionsOf(shape->rows) < kLeastThinRows)
    return std::nullopt;
  ArrayRef<int64_t> contract = op.getRhsContract();
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < typeOf(op.getRhs()).getRank(); ++dim)
    if (!llvm::is_contained(contract, dim))
      order.push_back(dim);
  llvm::append_range(order, contract);
  return order;
}

/// The matrices of a batch that workers share, if the outermost loop runs over
/// positions of the result's first dimension.
static std::optional<SharedRows> sharedBatch(DotOp op,
                                             const ContractionShape &shape) {
  int64_t size = op.getResult().getType().getDimSize(0);
  if (size < 2 || shape.batch.front().size % size != 0)
    return std::nullopt;
  return SharedRows{size, 1, size};
}

/// The rows that workers share, or, of a tile in registers without two tiles of
/// rows, the columns: one dimension, contiguous in the result.
static std::optional<SharedRows> sharedTiles(const ContractionShape &shape,
                                             ContractionAttr walk,
                                             int64_t lanes) {
  if (shape.rows.size() > 1 || shape.columns.size() > 1 ||
      shape.contract.size() > 1 ||
      (shape.rows.empty() && shape.columns.empty()))
    return std::nullopt;
  bool isTile = walk.getForm() == ContractionForm::Columns ||
                walk.getForm() == ContractionForm::Depth,
       isMatrix = !shape.rows.empty() && !shape.columns.empty();
  int64_t rows = positionsOf(shape.rows), columns = positionsOf(shape.columns);
  if (isMatrix && shape.rows[0].result != columns)
    return std::nullopt;
  int64_t unit = walk.getTile().empty() ? 1 : walk.getTile()[0];
  if (isTile && (!isMatrix || rows < 2 * unit)) {
    int64_t width = walk.getTile()[1] *
                    (walk.getForm() == ContractionForm::Columns ? lanes : 1);
    int64_t size = isMatrix ? columns : rows * columns;
    return SharedRows{size, width, size / width, isMatrix};
  }
  if (shape.rows.empty())
    return std::nullopt;
  int64_t tiles = walk.getForm() == ContractionForm::Packed ? kShareTiles : 1;
  return SharedRows{rows, unit, rows / (unit * tiles)};
}

std::optional<SharedRows> sharedRowsOf(DotOp op, Attribute walk,
                                       IsInMemory isInMemory,
                                       const TargetLimits &limits) {
  std::optional<ContractionShape> shape = contractionShape(op, isInMemory);
  if (!shape)
    return std::nullopt;
  std::optional<SharedRows> found =
      shape->batch.empty() ? sharedTiles(*shape, cast<ContractionAttr>(walk),
                                         limits.lanes(shape->resultType))
                           : sharedBatch(op, *shape);
  if (!found)
    return std::nullopt;
  int64_t work =
      typeOf(op.getResult()).getNumElements() * positionsOf(shape->contract);
  found->shares = std::min(work / kShareMultiplyAdds, found->shares);
  return found;
}

} // namespace weft::nest
