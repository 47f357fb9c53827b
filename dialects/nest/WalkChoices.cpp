//===- WalkChoices.cpp - how a target computes ops with loops fastest -----===//

#include "weft/dialects/nest/ContractionShape.h"
#include "weft/dialects/nest/ConvolutionShape.h"
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

// The length of blocks, and the length above which a sum is computed by
// blocks: the rounding error grows with the numbers in one accumulator. The
// relative error of a sum of 50,000 positive numbers was 4e-6 in one
// accumulator, 2e-7 in blocks of 512. The error of a small residual network's
// weights after ten steps is 1e-6; with blocks of 512 it was 5e-6.
static constexpr int64_t kSumBlock = 64, kLongSum = 4 * kSumBlock;

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
        blocks.push_back(size <= kLongSum ? size
                                          : blockLength(size, kSumBlock));
    if (blocks == reducedSizes(op))
      blocks.clear();
    return ReductionAttr::get(context, Accumulate::Register, blocks);
  }
  int64_t row = type.getShape().back() * bytesOf(type.getElementType());
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
/// The same limit for strides that suit no tile: plain loops do 0.2 to 1
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

namespace {
struct TileSize {
  int64_t rows, columns; ///< columns in vectors, or in elements along the depth
};
} // namespace

/// The cycles of one step of k: two multiply-adds or two loads a cycle, and at
/// least the latency of a multiply-add.
static double tileCost(int64_t rows, int64_t vectors) {
  return std::max({rows * vectors / 2.0, (rows + vectors) / 2.0, 4.0});
}

/// The cheapest tile that fits in the registers, together with a vector of each
/// column and one factor.
static TileSize columnTile(const TileLoops &loops, int64_t lanes,
                           int64_t registers) {
  int64_t vectors = llvm::divideCeil(loops.column.size, lanes);
  TileSize best{1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t nv = 1; nv <= std::min<int64_t>(vectors, 4); ++nv)
    for (int64_t mr = 1; mr <= std::min<int64_t>(loops.row.size, 16) &&
                         mr * nv + nv + 1 <= registers;
         ++mr) {
      int64_t fullTiles = loops.row.size / mr, fullColumns = vectors / nv;
      auto rows = [&](int64_t v) {
        return fullTiles * tileCost(mr, v) +
               (loops.row.size % mr ? tileCost(loops.row.size % mr, v) : 0);
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
  TileSize tile = isDeep ? depthTile(lanes, registers)
                         : columnTile(*loops, lanes, registers);
  return make(isDeep ? ContractionForm::Depth : ContractionForm::Columns,
              {tile.rows, tile.columns});
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

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The cheapest tile whose sums fit in the registers, together with a vector of
/// each column and two more.
static TileSize placesTile(const ConvolutionShape &shape, int64_t columns,
                           int64_t registers) {
  TileSize best{1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t nv = 1; nv <= std::min<int64_t>(columns, 4); ++nv)
    for (int64_t mr = 1; mr <= std::min<int64_t>(shape.places, 8); ++mr) {
      if (mr * nv + nv + 2 > registers)
        continue;
      int64_t rounds =
          llvm::divideCeil(shape.places, mr) * llvm::divideCeil(columns, nv);
      double cost = tileCost(mr, nv) * rounds;
      if (cost < least) {
        least = cost;
        best = {mr, nv};
      }
    }
  return best;
}

/// The lanes of a convolution: channels if it is depthwise; inputs if outputs
/// are not adjacent, or fill no vector and inputs do; else outputs. Nothing if
/// none suits.
static std::optional<ConvolutionLanes> lanesOf(ConvolutionOp op,
                                               const Strides &lhs,
                                               const Strides &rhs,
                                               int64_t lanes) {
  auto can = [&](ConvolutionLanes which) { return suits(op, lhs, rhs, which); };
  if (can(ConvolutionLanes::Channels))
    return ConvolutionLanes::Channels;
  bool outputs = can(ConvolutionLanes::Outputs);
  int64_t groups = op.getFeatureGroups() * op.getBatchGroups(),
          features =
              typeOf(op.getResult()).getDimSize(op.getResultDims()[1]) / groups;
  if (can(ConvolutionLanes::Inputs) &&
      (!outputs ||
       (features < lanes && rhs.sizes[op.getRhsDims()[1]] >= lanes)))
    return ConvolutionLanes::Inputs;
  return outputs ? std::optional(ConvolutionLanes::Outputs) : std::nullopt;
}

/// The most elements of a converted copy, which stays in L2.
static constexpr int64_t kMostCopied = 64 * 1024;
/// The least products of an element that is stored before the convolution: a
/// copy takes about 1 ns an element. With lanes of inputs a product takes 23 ps,
/// with lanes of outputs 12, and one of computed elements 110 (AVX-512).
static constexpr int64_t kLeastOfComputed = 16, kLeastOfTurned = 64;

/// Whether vectors can compute the convolution.
static bool hasVectors(ConvolutionOp op, const TargetLimits &limits) {
  return limits.hasTiles &&
         hasVectorArithmetic(typeOf(op.getResult()).getElementType()) &&
         hasVectorLoads(typeOf(op.getLhs()).getElementType()) &&
         hasVectorLoads(typeOf(op.getRhs()).getElementType());
}

/// The output features of a group.
static int64_t featuresOfGroup(ConvolutionOp op) {
  return typeOf(op.getResult()).getDimSize(op.getResultDims()[1]) /
         (op.getFeatureGroups() * op.getBatchGroups());
}

/// Whether the kernel is worth a copy with adjacent output features, which fill
/// half a vector there and are not adjacent in the kernel.
static bool wantsOutputs(ConvolutionOp op,
                         std::optional<ConvolutionLanes> along,
                         const Strides &lhs, const Strides &rhs,
                         int64_t lanes) {
  Strides copy = copiedKernel(op, rhs, ConvolutionLanes::Outputs);
  return along != ConvolutionLanes::Outputs &&
         (!along || 2 * featuresOfGroup(op) >= lanes) &&
         lanesOf(op, lhs, copy, lanes) == ConvolutionLanes::Outputs;
}

/// The least elements of a kernel whose panels are copied: half of L1; the least
/// products of one of its elements; and the most bytes of a panel: half of L2.
static constexpr int64_t kLeastPanels = 4096, kLeastOfPanel = 32,
                         kMostOfPanel = 512 * 1024;

/// Whether the kernel is worth copies of `width` columns in the order in which
/// they are read: its rows of features are longer, so that the lines of a tile
/// share few sets of L1, and are a stream in a copy.
static bool paysPanels(ConvolutionOp op, const ConvolutionShape &shape,
                       int64_t width) {
  int64_t weights = typeOf(op.getRhs()).getNumElements(),
          bytes = panelElements(op, width) *
                  bytesOf(typeOf(op.getResult()).getElementType());
  return shape.features > width && weights >= kLeastPanels &&
         workOf(op) / weights >= kLeastOfPanel && bytes <= kMostOfPanel;
}

std::optional<SmallVector<int64_t>> storedOrderOf(ConvolutionOp op,
                                                  unsigned operand,
                                                  const TargetLimits &limits,
                                                  IsInMemory isInMemory) {
  RankedTensorType type = typeOf(op->getOperand(operand));
  if (!hasVectors(op, limits) || type.getNumElements() == 0)
    return std::nullopt;
  std::optional<TensorView> lhs = viewOf(op.getLhs(), isInMemory),
                            rhs = viewOf(op.getRhs(), isInMemory);
  int64_t products = workOf(op) / type.getNumElements();
  auto order = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  if (!(operand == 0 ? lhs : rhs))
    return products >= kLeastOfComputed ? std::optional(order) : std::nullopt;
  if (operand == 0 || !lhs || type.getNumElements() <= kMostCopied ||
      products < kLeastOfTurned)
    return std::nullopt;
  int64_t lanes = limits.lanes(typeOf(op.getResult()).getElementType());
  if (!wantsOutputs(op, lanesOf(op, lhs->strides, rhs->strides, lanes),
                    lhs->strides, rhs->strides, lanes))
    return std::nullopt;
  ArrayRef<int64_t> dims = op.getRhsDims();
  order.assign(dims.begin() + 2, dims.end());
  order.append({dims[1], dims[0]});
  return order;
}

Attribute chooseConvolution(ConvolutionOp op, const TargetLimits &limits,
                            IsInMemory isInMemory) {
  Type element = typeOf(op.getResult()).getElementType(),
       lhsType = typeOf(op.getLhs()).getElementType(),
       rhsType = typeOf(op.getRhs()).getElementType();
  std::optional<TensorView> lhs = viewOf(op.getLhs(), isInMemory),
                            rhs = viewOf(op.getRhs(), isInMemory);
  if (!lhs || !rhs || !hasVectors(op, limits))
    return ownWalk(op);
  int64_t lanes = limits.lanes(element);
  int64_t weights = typeOf(op.getRhs()).getNumElements();
  auto along = lanesOf(op, lhs->strides, rhs->strides, lanes);
  // Windows read the kernel and the elements of a sample many times, so small
  // kernels and samples are converted once, and a kernel is turned whose output
  // features are not adjacent, if they fill half a vector.
  bool turnsKernel = weights <= kMostCopied &&
                     wantsOutputs(op, along, lhs->strides, rhs->strides, lanes);
  if (turnsKernel)
    along = ConvolutionLanes::Outputs;
  if (!along)
    return ownWalk(op);
  bool copiesKernel =
      turnsKernel || (rhsType != element && weights <= kMostCopied);
  ConvolutionShape shape = convolutionShape(
      op, lhs->strides, kernelRead(op, rhs->strides, *along, copiesKernel),
      *along, tiledDimension(op));
  TileSize tile = placesTile(shape,
                             *along == ConvolutionLanes::Inputs
                                 ? shape.features
                                 : llvm::divideCeil(shape.features, lanes),
                             limits.vectorRegisters);
  int64_t inSample = lhs->strides.strides[op.getLhsDims()[0]];
  bool copiesSample = lhsType != element && inSample <= kMostCopied &&
                      canCopySample(op, lhs->strides, shape.tiled);
  int64_t products = llvm::product_of(shape.rounds);
  bool sumsApart = isa<FloatType>(element) && products > kLongSum &&
                   products / shape.rounds.front() >= kSumBlock;
  bool copiesPanels = along == ConvolutionLanes::Outputs && !copiesKernel &&
                      shape.groups == 1 &&
                      paysPanels(op, shape, tile.columns * lanes);
  return ConvolutionAttr::get(op.getContext(), *along, shape.tiled,
                              {tile.rows, tile.columns}, copiesKernel,
                              copiesSample, sumsApart, copiesPanels);
}

} // namespace weft::nest
