//===- TileWalk.cpp - tiles of sums in shared memory ----------------------===//

#include "weft/dialects/nest/TileWalk.h"

#include "weft/dialects/nest/RowWalk.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::nest;

//===----------------------------------------------------------------------===//
// Shape of the product
//===----------------------------------------------------------------------===//

std::optional<ProductShape> weft::nest::productShape(Operation *op) {
  auto loops = dyn_cast<OpLoopsInterface>(op);
  std::optional<ProductDims> dims =
      loops ? loops.getProductDims() : std::nullopt;
  if (!dims)
    return std::nullopt;
  RankedTensorType type = typeOf(op->getResult(0));
  auto join = [&](ArrayRef<int64_t> of) {
    JoinedDims joined{SmallVector<int64_t>(of), {}};
    for (int64_t dim : of)
      joined.sizes.push_back(type.getDimSize(dim));
    return joined;
  };
  return ProductShape{join(dims->batch),
                      join(dims->rows),
                      join(dims->columns),
                      {{}, *loops.getTermSizes()},
                      typeOf(op->getOperand(0)).getElementType(),
                      typeOf(op->getOperand(1)).getElementType(),
                      type.getElementType()};
}

std::optional<OperandPaths> weft::nest::operandPaths(Operation *op,
                                                     unsigned operand,
                                                     IsInMemory isInMemory) {
  auto loops = dyn_cast<OpLoopsInterface>(op);
  std::optional<ProductDims> dims =
      loops ? loops.getProductDims() : std::nullopt;
  if (!dims || !(operand == 0 ? dims->lhs : dims->rhs))
    return std::nullopt;
  const ProductDims::Factor &factor = operand == 0 ? *dims->lhs : *dims->rhs;
  std::optional<TensorView> view = viewOf(op->getOperand(operand), isInMemory);
  if (!view)
    return std::nullopt;
  RankedTensorType type = typeOf(op->getResult(0));
  auto sizesOf = [&](ArrayRef<int64_t> of) {
    return llvm::map_to_vector(
        of, [&](int64_t dim) { return type.getDimSize(dim); });
  };
  SmallVector<int64_t> ones(factor.batch.size(), 1),
      rows(factor.rows.size(), 1), terms(factor.terms.size(), 1);
  int64_t first = view->strides.first;
  SmallVector<OperandPaths::Bound> bounds;
  for (const ProductDims::Factor::Sliding &sliding : factor.sliding) {
    int64_t dim = factor.rows[sliding.row];
    int64_t stride = view->strides.strides[dim];
    bool isDilated = sliding.base > 1;
    rows[sliding.row] = isDilated ? 0 : sliding.stride;
    terms[sliding.term] = isDilated ? 0 : sliding.dilation;
    first -= isDilated ? 0 : sliding.low * stride;
    bounds.push_back(
        {sliding, view->strides.sizes[dim], isDilated ? stride : 0});
  }
  // The path through a factor's tensor of some positions of the result or
  // terms.
  auto path = [&](ArrayRef<int64_t> of, ArrayRef<int64_t> sizes,
                  ArrayRef<int64_t> times) {
    DotDimensions steps;
    for (auto [dim, size, by] : llvm::zip_equal(of, sizes, times))
      steps.push_back({size, by * view->strides.strides[dim], 0, 0});
    return DotPath(steps, &DotDimension::lhs);
  };
  return OperandPaths{path(factor.batch, sizesOf(dims->batch), ones),
                      path(factor.rows,
                           sizesOf(operand == 0 ? dims->rows : dims->columns),
                           rows),
                      path(factor.terms, *loops.getTermSizes(), terms),
                      first,
                      view->root,
                      bounds};
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The padding after each run, in elements. Shared memory has 32 banks of 4
/// bytes, and simultaneous reads of a warp shall use different banks: eight
/// rows of 16 bytes for ldmatrix, and for tf32 eight rows of four elements.
static int64_t padding(Multiplier unit, bool isDepthInner) {
  if (unit == Multiplier::Half)
    return 8;
  return unit == Multiplier::Tf32 && !isDepthInner ? 8 : 4;
}

TileOperand weft::nest::tileOperand(TilesAttr walk, unsigned operand) {
  Multiplier unit = walk.getUnit();
  TileOperand tile;
  tile.isDepthInner = unit != Multiplier::Fma &&
                      stagingOf(walk, operand).getAlong() == Along::Depth;
  tile.rows = walk.getBlock()[operand];
  tile.depth = walk.getBlock()[2];
  tile.elementBytes = unit == Multiplier::Half ? 2 : 4;
  tile.stride = (tile.isDepthInner ? tile.depth : tile.rows) +
                padding(unit, tile.isDepthInner);
  return tile;
}

std::array<int64_t, 2> weft::nest::warpsOf(TilesAttr walk) {
  return {walk.getBlock()[0] / walk.getWarp()[0],
          walk.getBlock()[1] / walk.getWarp()[1]};
}

int64_t weft::nest::sharedBytes(TilesAttr walk) {
  int64_t stage = tileOperand(walk, 0).bytes() + tileOperand(walk, 1).bytes();
  auto [down, across] = warpsOf(walk);
  return std::max(walk.getStages() * stage,
                  down * across * kPatchRows * patchStride(walk) * 4);
}

int64_t weft::nest::tilesOf(TilesAttr walk, const ProductShape &shape) {
  return shape.batch.size() *
         llvm::divideCeil(shape.rows.size(), walk.getBlock()[0]) *
         llvm::divideCeil(shape.columns.size(), walk.getBlock()[1]);
}

int64_t weft::nest::stepsOfPart(TilesAttr walk, const ProductShape &shape) {
  int64_t steps = llvm::divideCeil(shape.depth.size(), walk.getBlock()[2]);
  return llvm::divideCeil(steps, walk.getParts());
}

std::string weft::nest::refuseStaging(Operation *op, unsigned operand,
                                      TilesAttr walk, IsInMemory isInMemory) {
  StagingAttr staging = stagingOf(walk, operand);
  std::string name = operand == 0 ? "lhs" : "rhs";
  int64_t bytes = staging.getBytes(),
          elementBytes = tileOperand(walk, operand).elementBytes;
  if (bytes == 0)
    return "";
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return "it copies " + std::to_string(bytes) + " bytes of " + name +
           "; copies are of 4, 8 or 16 bytes, or 0 where there are none";
  Type element = typeOf(op->getOperand(operand)).getElementType();
  if (weft::bytesOf(element) != elementBytes)
    return name + " has elements of " + std::to_string(weft::bytesOf(element)) +
           " bytes, of which copies cannot make " +
           std::to_string(elementBytes) + "; copy 0 bytes";
  std::optional<OperandPaths> paths = operandPaths(op, operand, isInMemory);
  if (!paths)
    return name + " is no view of something in memory; copy 0 bytes";
  int64_t count = bytes / elementBytes;
  if (count == 1)
    return "";
  if (walk.getUnit() == Multiplier::Fma && staging.getAlong() == Along::Depth)
    return "of f32 the rows lie side by side in shared memory; copy 4 bytes "
           "of " +
           name + " at a time along the depth";
  ProductShape shape = *productShape(op);
  bool isDeep = staging.getAlong() == Along::Depth;
  ArrayRef<int64_t> copied =
      isDeep ? shape.depth.sizes : shape.rowsOf(operand).sizes;
  bool slides = llvm::any_of(paths->bounds, [&](const auto &bound) {
    return (isDeep ? bound.term : bound.row) == copied.size() - 1;
  });
  if (!paths->bounds.empty() && (slides || copied.back() % count != 0))
    return "windows may end between " + std::to_string(count) +
           " elements of " + name +
           "; copy 0 bytes, or along a last dimension in which no window "
           "slides and which that many divide";
  const DotPath &along = paths->along(staging.getAlong());
  bool isSideBySide = along.innerStride() == 1 &&
                      along.innerSize() % count == 0 &&
                      paths->first % count == 0;
  for (const OperandPaths::Bound &bound : paths->bounds)
    isSideBySide &= bound.step % count == 0;
  for (const DotPath *path : {&paths->batch, &paths->rows, &paths->depth})
    for (const DotPath::Step &step : path->steps)
      isSideBySide &= step.stride % count == 0 ||
                      (path == &along && &step == &path->steps.back());
  if (isSideBySide)
    return "";
  return std::to_string(count) + " elements of " + name + " along its " +
         stringifyAlong(staging.getAlong()).str() +
         " do not lie side by side from multiples of " + std::to_string(bytes) +
         " bytes on";
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The reason why the unit cannot multiply such elements, or empty.
static std::string refuseTypes(Multiplier unit, const ProductShape &shape) {
  if (!shape.resultType.isF32())
    return "it adds up in f32";
  bool isHalf = shape.lhsType == shape.rhsType &&
                (shape.lhsType.isF16() || shape.lhsType.isBF16());
  if (unit == Multiplier::Half)
    return isHalf ? "" : "it multiplies two bf16 or two f16";
  for (Type type : {shape.lhsType, shape.rhsType})
    if (!isa<FloatType>(type) || !isExactIn(type, shape.resultType))
      return "it multiplies f32, or types that f32 represents exactly";
  return "";
}

/// The reason why the sizes do not fit each other or the target, or empty.
static std::string refuseSizes(TilesAttr walk, const TargetLimits &limits) {
  ArrayRef<int64_t> block = walk.getBlock(), warp = walk.getWarp();
  if (block.size() != 3 || warp.size() != 2)
    return "needs a block of 3 sizes and a warp of 2";
  for (int64_t size : llvm::concat<const int64_t>(block, warp))
    if (size < 1 || !llvm::isPowerOf2_64(size))
      return "has a size of " + std::to_string(size) +
             ", which is no power of two";
  if (warp[0] < kPatchRows || warp[1] < 8 || warp[0] * warp[1] > 2048)
    return "gives a warp " + std::to_string(warp[0]) + " x " +
           std::to_string(warp[1]) +
           " sums; it takes at least 16 x 8 and 2048 at most";
  int64_t step = walk.getUnit() == Multiplier::Half ? 16 : 8;
  if (block[2] < step || block[2] > 64)
    return "has a depth of " + std::to_string(block[2]) + "; use " +
           std::to_string(step) + " to 64";
  int64_t lanes = limits.rowLanes, warps = limits.block.threads / lanes;
  if (block[0] % warp[0] || block[1] % warp[1] ||
      block[0] / warp[0] * (block[1] / warp[1]) != warps)
    return "cuts a block of " + std::to_string(block[0]) + " x " +
           std::to_string(block[1]) + " into warp tiles of " +
           std::to_string(warp[0]) + " x " + std::to_string(warp[1]) +
           "; a block has " + std::to_string(warps) +
           " warps, each of one tile";
  if (walk.getStages() < 2 || walk.getStages() > 8)
    return "has " + std::to_string(walk.getStages()) + " stages; use 2 to 8";
  if (int64_t bytes = sharedBytes(walk); bytes > limits.block.sharedBytes)
    return "needs " + std::to_string(bytes) +
           " bytes of shared memory; a block has " +
           std::to_string(limits.block.sharedBytes);
  return "";
}

/// The reason why the parts do not suit the depth or the stored values, or
/// empty.
static std::string refuseParts(TilesAttr walk, Operation *sum,
                               const ProductShape &shape, LoopsOp loops) {
  int64_t parts = walk.getParts(),
          steps = llvm::divideCeil(shape.depth.size(), walk.getBlock()[2]);
  if (parts < 1 || parts > std::max<int64_t>(steps, 1) ||
      (parts > 1 &&
       llvm::divideCeil(steps, stepsOfPart(walk, shape)) != uint64_t(parts)))
    return "divides " + std::to_string(steps) + " steps of the depth into " +
           std::to_string(parts) + " parts; each takes one step or more";
  auto stored = loops.getStored().front().getDefiningOp<PartsOp>();
  int64_t said = stored ? typeOf(stored.getResult()).getDimSize(0) : 1;
  if (said != parts || (stored && (loops.getStored().size() != 1 ||
                                   stored.getSums().getDefiningOp() != sum)))
    return "has " + std::to_string(parts) + " parts and stores " +
           std::to_string(said) +
           "; store the nest.parts of the sums alone, as many, or no parts";
  return "";
}

/// The sums whose parts a nest stores, or else the stored values.
static SmallVector<Value> summedValues(LoopsOp loops) {
  SmallVector<Value> values(loops.getStored());
  for (Value &value : values)
    if (auto parts = value.getDefiningOp<PartsOp>())
      value = parts.getSums();
  return values;
}

LogicalResult TilesAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  std::string why;
  auto refuse = [&](const std::string &reason) {
    return loops.emitOpError("walks as ")
           << loops.getWalk() << " but " << reason;
  };
  KernelAttr kernel = decisionsOf(loops->getParentOfType<func::FuncOp>());
  std::optional<TargetLimits> limits =
      kernel ? targetLimits(kernel.getTarget()) : std::nullopt;
  if (limits && limits->block.threads == 0)
    return refuse("'" + kernel.getTarget().str() +
                  "' has no shared memory; choose nests for it");
  SmallVector<Value> values = summedValues(loops);
  Operation *sum = sumOf(opsOf(loops.getBody().front()), values, why);
  if (!sum)
    return refuse("cannot combine terms: " + why);
  std::optional<ProductShape> shape = productShape(sum);
  if (!shape)
    return refuse("the terms of '" + sum->getName().getStringRef().str() +
                  "' are no products of rows and columns");
  why = refuseTypes(getUnit(), *shape);
  if (why.empty() && limits)
    why = refuseSizes(*this, *limits);
  if (why.empty() && limits)
    why = refuseParts(*this, sum, *shape, loops);
  Block *body = &loops.getBody().front();
  for (unsigned operand = 0; operand < 2 && why.empty(); ++operand)
    why = refuseStaging(sum, operand, *this, [&](Value value) {
      return value.getParentBlock() != body;
    });
  return why.empty() ? success() : refuse(why);
}
