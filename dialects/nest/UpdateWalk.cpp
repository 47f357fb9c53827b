//===- UpdateWalk.cpp - scatters whose result is divided among warps ------===//

#include "weft/dialects/nest/UpdateWalk.h"

#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft::nest {

UpdateShape::UpdateShape(ScatterOp op) {
  IndexedBlocks blocks = op.getBlocks();
  for (int64_t dim = 0; dim < blocks.tensor.getRank(); ++dim) {
    int64_t of = updatesDimOf(op, dim);
    bool isBatch = llvm::is_contained(blocks.batchingDims, dim);
    (of < 0 ? shared : isBatch ? batch : window).push_back(dim);
    if (of >= 0)
      (isBatch ? updatesBatch : updatesWindow).push_back(of);
  }
  for (int64_t dim = 0; dim < blocks.blocks.getRank(); ++dim)
    if (!llvm::is_contained(updatesBatch, dim) &&
        !llvm::is_contained(updatesWindow, dim))
      ordered.push_back(dim);
  isWindowLast =
      !window.empty() && window.back() + 1 == blocks.tensor.getRank();
}

SmallVector<int64_t> sizesOf(Value value, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(
      dims, [&](int64_t dim) { return typeOf(value).getDimSize(dim); });
}

int64_t countOf(Value value, ArrayRef<int64_t> dims) {
  return llvm::product_of(sizesOf(value, dims));
}

int64_t positionsOfPart(UpdatesAttr walk, ScatterOp op) {
  return llvm::divideCeil(countOf(op.getResult(), UpdateShape(op).shared),
                          walk.getParts());
}

int64_t warpsOf(UpdatesAttr walk, ScatterOp op) {
  UpdateShape shape(op);
  return countOf(op.getResult(), shape.batch) * walk.getParts() *
         llvm::divideCeil(countOf(op.getResult(), shape.window),
                          walk.getWidth());
}

std::string refuseUpdates(UpdatesAttr walk, Operation *op,
                          const TargetLimits &limits) {
  auto scatter = dyn_cast<ScatterOp>(op);
  if (!scatter)
    return ("'" + op->getName().getStringRef() + "' is no scatter").str();
  if (limits.rowLanes == 1)
    return "no lanes share a part on this target";
  UpdateShape shape(scatter);
  Value result = scatter.getResult();
  int64_t window = countOf(result, shape.window),
          shared = countOf(result, shape.shared), parts = walk.getParts(),
          width = walk.getWidth(), side = walk.getSide(),
          most = limits.rowLanes * side;
  if (walk.getTogether() < 1)
    return "reads " + std::to_string(walk.getTogether()) + " indices at once";
  if (parts < 1 || parts > shared ||
      (parts - 1) * int64_t(llvm::divideCeil(shared, parts)) >= shared)
    return "has " + std::to_string(parts) + " parts of " +
           std::to_string(shared) + " positions, some without one";
  if (side < 1 || side > 16 || !llvm::isPowerOf2_64(side) ||
      (side > 1 &&
       (!shape.isWindowLast || typeOf(result).getShape().back() % side != 0)))
    return std::to_string(side) +
           " elements of a block are not side by side; use a power of two up "
           "to 16 that divides its last dimension";
  if (width < 1 || width % side != 0 || width > std::min(window, most))
    return "a warp takes " + std::to_string(width) + " elements of blocks of " +
           std::to_string(window) + ", and " + std::to_string(limits.rowLanes) +
           " lanes with " + std::to_string(side) + " take " +
           std::to_string(most) + " at most";
  return "";
}

/// The elements that a lane takes side by side: at most 16 bytes.
static int64_t sideOf(ScatterOp op, const UpdateShape &shape) {
  constexpr int64_t kBytes = 16;
  RankedTensorType type = typeOf(op.getResult());
  if (!shape.isWindowLast)
    return 1;
  int64_t side = std::max<int64_t>(kBytes / bytesOf(type.getElementType()), 1);
  while (type.getShape().back() % side != 0)
    side /= 2;
  return side;
}

Attribute chooseOwn(Operation *op, const TargetLimits &limits) {
  // All warps of a multiprocessor are 64; a warp waits for memory in most
  // steps, and each reads all indices.
  constexpr int64_t kWarpsOfProcessor = 16, kTogether = 4,
                    kMostPositions = INT32_MAX;
  auto scatter = dyn_cast<ScatterOp>(op);
  if (!scatter || limits.rowLanes == 1 ||
      typeOf(scatter.getResult()).getNumElements() == 0 ||
      typeOf(scatter.getUpdates()).getNumElements() == 0)
    return ownWalk(op);
  UpdateShape shape(scatter);
  Value result = scatter.getResult();
  int64_t side = sideOf(scatter, shape), window = countOf(result, shape.window),
          width = std::min(window, limits.rowLanes * side),
          shared = countOf(result, shape.shared),
          others =
              countOf(result, shape.batch) * llvm::divideCeil(window, width);
  int64_t parts =
      llvm::divideCeil(limits.block.processors * kWarpsOfProcessor, others);
  parts = std::clamp<int64_t>(parts, llvm::divideCeil(shared, kMostPositions),
                              shared);
  // Each part has positions.
  parts = llvm::divideCeil(shared, llvm::divideCeil(shared, parts));
  int64_t together = std::min<int64_t>(
      kTogether, llvm::divideCeil(countOf(scatter.getUpdates(), shape.ordered),
                                  limits.rowLanes));
  return UpdatesAttr::get(op->getContext(), parts, width, side, together);
}

} // namespace weft::nest
