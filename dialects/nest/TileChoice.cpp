//===- TileChoice.cpp - the tile of sums that a GPU computes fastest ------===//
//
// The tile with the fewest cycles by this model is chosen among a few, or none
// if single threads need no more (docs/gpu.md has the model with an example).
// Nothing is measured on the machine that compiles: equal programs get equal
// tiles.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/nest/TileWalk.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace weft::nest {

/// Cycles of a step along the depth besides multiplying: a barrier, and the
/// first loads from shared memory.
static constexpr int64_t kStepCycles = 60;
/// Cycles of a tile besides its steps: the first stage is loaded from memory,
/// and sums pass through shared memory.
static constexpr int64_t kTileCycles = 2000;
/// The least cycles of a thread that computes an element alone, for a term: two
/// loads from caches, of which a few are in flight at a time.
static constexpr int64_t kTermCycles = 30;
/// Instructions of such a term, and instructions of a multiprocessor in a
/// cycle.
static constexpr int64_t kTermInstructions = 10, kInstructions = 128;
/// Threads that a multiprocessor holds.
static constexpr int64_t kThreads = 2048;
/// The cost of an element that is computed or loaded alone, in bytes that
/// are copied.
static constexpr int64_t kElementBytes = 16;
static constexpr int64_t kMostStages = 4;
/// Cycles of a second launch that adds up the parts of sums: launches of one
/// stream are a few microseconds apart.
static constexpr int64_t kPassCycles = 6000;
/// Blocks of a divided depth for each multiprocessor, which hide each other's
/// latency, and the largest tile of which that many fit.
static constexpr int64_t kBlocksTogether = 2, kTogetherSums = 64 * 64;

namespace {
/// Rows and columns of a block, and of a warp's tile.
struct TileSizes {
  int64_t rows, columns, warpRows, warpColumns;
};
} // namespace

static constexpr TileSizes kTiles[] = {
    {128, 128, 64, 32}, {128, 64, 32, 32}, {64, 128, 32, 32}, {64, 64, 32, 16},
    {64, 32, 16, 16},   {32, 64, 16, 16},  {32, 32, 16, 8},   {16, 128, 16, 16},
    {128, 16, 16, 16},  {16, 64, 16, 8}};

static int64_t depthOf(Multiplier unit) {
  return unit == Multiplier::Half ? 32 : unit == Multiplier::Tf32 ? 16 : 8;
}

/// Chooses the largest copies along contiguous elements (single elements along
/// the depth for f32 without tensor cores), or 0 bytes if copies do not fit.
static StagingAttr chooseStaging(Operation *op, unsigned operand,
                                 TilesAttr walk, IsInMemory isInMemory) {
  MLIRContext *context = op->getContext();
  // The depth of lhs and the columns of rhs are innermost by default, as in a
  // product of row-major matrices.
  Along natural = operand == 0 ? Along::Depth : Along::Rows;
  if (std::optional<OperandPaths> paths =
          operandPaths(op, operand, isInMemory)) {
    bool isDeep = paths->depth.innerStride() == 1 && paths->depth.size() > 1,
         isWide = paths->rows.innerStride() == 1 && paths->rows.size() > 1;
    if (isDeep != isWide)
      natural = isDeep ? Along::Depth : Along::Rows;
  }
  for (int64_t bytes : {16, 8, 4}) {
    auto staging = StagingAttr::get(context, natural, bytes);
    auto tried =
        TilesAttr::get(context, walk.getUnit(), walk.getBlock(), walk.getWarp(),
                       walk.getStages(), operand == 0 ? staging : walk.getLhs(),
                       operand == 1 ? staging : walk.getRhs(), walk.getParts());
    if (refuseStaging(op, operand, tried, isInMemory).empty())
      return staging;
  }
  return StagingAttr::get(context, natural, 0);
}

/// The number of stages that fit in shared memory, at most kMostStages.
static int64_t stagesOf(TilesAttr walk, int64_t sharedBytes) {
  int64_t stage = tileOperand(walk, 0).bytes() + tileOperand(walk, 1).bytes();
  return std::min(kMostStages, sharedBytes / stage);
}

/// The number of blocks that a multiprocessor runs at the same time.
static int64_t togetherOf(TilesAttr walk) {
  ArrayRef<int64_t> block = walk.getBlock();
  return walk.getParts() > 1 && block[0] * block[1] <= kTogetherSums
             ? kBlocksTogether
             : 1;
}

/// The cycles of the launch that adds up the parts: it reads what the first
/// launch wrote.
static int64_t cyclesOfParts(TilesAttr walk, const ProductShape &shape,
                             const BlockLimits &limits) {
  if (walk.getParts() == 1)
    return 0;
  int64_t elements =
      shape.batch.size() * shape.rows.size() * shape.columns.size();
  return kPassCycles + walk.getParts() * elements * 2 * 4 /
                           (limits.processors * limits.bytes);
}

static int64_t cyclesOf(TilesAttr walk, const ProductShape &shape,
                        const BlockLimits &limits) {
  ArrayRef<int64_t> block = walk.getBlock();
  int64_t rate = walk.getUnit() == Multiplier::Half   ? limits.half
                 : walk.getUnit() == Multiplier::Tf32 ? limits.tf32
                                                      : limits.fma;
  int64_t multiply = block[0] * block[1] * block[2] / rate, bytes = 0;
  for (unsigned operand : {0, 1})
    bytes += block[operand] * block[2] *
             (stagingOf(walk, operand).getBytes() == 0
                  ? kElementBytes
                  : tileOperand(walk, operand).elementBytes);
  int64_t work = std::max(multiply, bytes / limits.bytes),
          together = togetherOf(walk);
  int64_t step = std::max(together * work, work + kStepCycles);
  int64_t rounds =
      llvm::divideCeil(blocksOf(walk, shape), limits.processors * together);
  return rounds * (stepsOfPart(walk, shape) * step + kTileCycles) +
         cyclesOfParts(walk, shape, limits);
}

static TilesAttr withParts(TilesAttr walk, int64_t parts) {
  return TilesAttr::get(walk.getContext(), walk.getUnit(), walk.getBlock(),
                        walk.getWarp(), walk.getStages(), walk.getLhs(),
                        walk.getRhs(), parts);
}

/// Divides the depth so that every multiprocessor has a block for each that it
/// can run at the same time; parts are of equal length, except the last.
static TilesAttr divided(TilesAttr walk, const ProductShape &shape,
                         const BlockLimits &limits) {
  int64_t steps = llvm::divideCeil(shape.depth.size(), walk.getBlock()[2]),
          wanted = togetherOf(withParts(walk, 2)) * limits.processors /
                   tilesOf(walk, shape);
  int64_t parts = std::clamp<int64_t>(wanted, 1, steps);
  return withParts(
      walk,
      llvm::divideCeil(steps, stepsOfPart(withParts(walk, parts), shape)));
}

/// The cycles without tiles: a thread computes each element.
static int64_t cyclesOfThreads(const ProductShape &shape,
                               const BlockLimits &limits) {
  int64_t elements =
      shape.batch.size() * shape.rows.size() * shape.columns.size();
  int64_t threads =
      std::min(llvm::divideCeilSigned(elements, limits.processors), kThreads);
  int64_t term =
      std::max(kTermCycles, threads * kTermInstructions / kInstructions);
  return llvm::divideCeilSigned(elements, limits.processors * kThreads) *
         shape.depth.size() * term;
}

static std::optional<Multiplier> unitOf(const ProductShape &shape, bool tf32) {
  auto isExact = [](Type type) {
    return isa<FloatType>(type) &&
           isExactIn(type, Float32Type::get(type.getContext()));
  };
  if (!shape.resultType.isF32() || !isExact(shape.lhsType) ||
      !isExact(shape.rhsType))
    return std::nullopt;
  if (shape.lhsType == shape.rhsType &&
      (shape.lhsType.isF16() || shape.lhsType.isBF16()))
    return Multiplier::Half;
  return tf32 ? Multiplier::Tf32 : Multiplier::Fma;
}

TilesAttr chooseTiles(Operation *op, const TargetLimits &limits, bool tf32,
                      IsInMemory isInMemory) {
  std::optional<ProductShape> shape = productShape(op);
  if (!shape || limits.block.threads == 0)
    return {};
  std::optional<Multiplier> unit = unitOf(*shape, tf32);
  if (!unit || shape->depth.size() == 0 ||
      cast<ShapedType>(op->getResult(0).getType()).getNumElements() == 0)
    return {};
  MLIRContext *context = op->getContext();
  int64_t least = cyclesOfThreads(*shape, limits.block);
  TilesAttr best;
  for (const TileSizes &sizes : kTiles) {
    auto plain = StagingAttr::get(context, Along::Depth, 0);
    int64_t block[] = {sizes.rows, sizes.columns, depthOf(*unit)},
            warp[] = {sizes.warpRows, sizes.warpColumns};
    auto make = [&](int64_t stages, StagingAttr lhs, StagingAttr rhs) {
      return TilesAttr::get(context, *unit, block, warp, stages, lhs, rhs, 1);
    };
    TilesAttr walk = make(2, plain, plain);
    walk = make(2, chooseStaging(op, 0, walk, isInMemory),
                chooseStaging(op, 1, walk, isInMemory));
    walk = make(stagesOf(walk, limits.block.sharedBytes), walk.getLhs(),
                walk.getRhs());
    for (TilesAttr tried : {walk, divided(walk, *shape, limits.block)})
      if (int64_t cycles = cyclesOf(tried, *shape, limits.block);
          cycles < least) {
        least = cycles;
        best = tried;
      }
  }
  return best;
}

} // namespace weft::nest
