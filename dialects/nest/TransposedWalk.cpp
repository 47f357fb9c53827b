//===- TransposedWalk.cpp - elements that are read the other way ----------===//

#include "weft/dialects/nest/TransposedWalk.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"

#include "llvm/Support/MathExtras.h"

#include <cstdlib>

using namespace mlir;

namespace weft::nest {

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>();
}

/// The view that a value is, of a value in memory or of a value computed
/// element by element, which is treated as if it were in row-major order.
static std::optional<TensorView> viewOfComputed(Value value,
                                                IsInMemory isInMemory) {
  return viewOf(value, [&](Value root) {
    return isInMemory(root) || !root.getDefiningOp() ||
           !isView(root.getDefiningOp());
  });
}

llvm::SetVector<Value> turnedValues(ValueRange stored, int64_t along,
                                    IsInMemory isInMemory) {
  llvm::SetVector<Value> seen, turned;
  seen.insert(stored.begin(), stored.end());
  for (unsigned i = 0; i < seen.size(); ++i) {
    Value value = seen[i];
    Operation *op = value.getDefiningOp();
    if (!op || isInMemory(value) ||
        typeOf(value).getShape() != typeOf(stored[0]).getShape())
      continue;
    if (isElementwise(op)) {
      seen.insert(op->operand_begin(), op->operand_end());
      continue;
    }
    std::optional<TensorView> view = viewOfComputed(value, isInMemory);
    if (view && std::abs(view->strides.strides[along]) == 1 &&
        std::abs(view->strides.strides.back()) != 1)
      turned.insert(value);
  }
  return turned;
}

SmallVector<int64_t> turnedTiles(ArrayRef<int64_t> shape, int64_t along) {
  SmallVector<int64_t> tiles(shape);
  for (int64_t *size : {&tiles[along], &tiles.back()})
    *size = llvm::divideCeil(*size, kTurnedTile);
  return tiles;
}

int64_t turnedBytes(Value value) {
  return llvm::alignTo(kTurnedTile * kTurnedStride *
                           bytesOf(typeOf(value).getElementType()),
                       16);
}

bool isTurnedByVectors(Value value, int64_t along, int64_t vectorBytes,
                       IsInMemory isInMemory) {
  std::optional<TensorView> view = viewOf(value, isInMemory);
  Type element = typeOf(value).getElementType();
  int64_t bytes = bytesOf(element), lanes = vectorBytes / bytes;
  return view && view->strides.strides[along] == 1 && element.isIntOrFloat() &&
         (bytes == 4 || bytes == 8) && lanes > 1 && kTurnedTile % lanes == 0;
}

/// The bytes of a CPU's first cache.
static constexpr int64_t kFirstCache = 32 * 1024;

TransposedAttr chooseTransposed(ValueRange stored, const TargetLimits &limits,
                                IsInMemory isInMemory) {
  RankedTensorType type = typeOf(stored[0]);
  constexpr int64_t kLeast = kTurnedTile / 2;
  bool isOfHost = limits.block.threads == 0;
  if ((isOfHost && bufferBytes(type) < kFirstCache) || type.getRank() < 2 ||
      type.getShape().back() < kLeast || type.getNumElements() == 0)
    return {};
  int64_t most = 0, best = 0;
  for (int64_t along = 0; along + 1 < type.getRank(); ++along) {
    if (type.getDimSize(along) < kLeast)
      continue;
    int64_t bytes = 0;
    for (Value value : turnedValues(stored, along, isInMemory))
      bytes += turnedBytes(value);
    if (bytes > most && (isOfHost || bytes <= limits.block.sharedBytes)) {
      most = bytes;
      best = along;
    }
  }
  return most ? TransposedAttr::get(type.getContext(), best) : TransposedAttr();
}

} // namespace weft::nest
