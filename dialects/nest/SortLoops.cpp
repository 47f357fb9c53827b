//===- SortLoops.cpp - sorts by digits ------------------------------------===//

#include "weft/dialects/nest/SortLoops.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/ops/ScanOps.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace weft::nest {

static int64_t arrayBytes(int64_t size, unsigned bits) {
  return llvm::alignTo(size * (bits / 8), 64);
}

int64_t DigitSort::keysAt(int64_t number) const {
  return number * arrayBytes(size, keyBits);
}
int64_t DigitSort::positionsAt(int64_t number) const {
  return keysAt(2) + (hasPositions ? number * arrayBytes(size, indexBits) : 0);
}
int64_t DigitSort::countsAt() const { return positionsAt(2); }
int64_t DigitSort::bytes() const {
  return countsAt() + arrayBytes(digits() * kBase, indexBits);
}

std::optional<DigitSort> digitSort(SortOp op) {
  // A move of an element takes a quarter of the time of its comparison in a
  // merge, but each digit has counts.
  constexpr int64_t kShortestRow = 16;
  if (op.getKeys() != 1)
    return std::nullopt;
  RankedTensorType type = typeOf(op.getInputs()[0]);
  Type element = type.getElementType();
  DigitSort sort;
  sort.size = type.getDimSize(op.getDim());
  // Small floats are f32 in registers.
  bool isSmall =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16;
  sort.keyBits = isSmall ? 32 : std::max(element.getIntOrFloatBitWidth(), 8u);
  sort.indexBits = sort.size <= std::numeric_limits<int32_t>::max() ? 32 : 64;
  sort.hasPositions = op.getInputs().size() > 1;
  return sort.size >= kShortestRow * sort.digits() ? std::optional(sort)
                                                   : std::nullopt;
}

OwnLoops sortLoops(SortOp op) {
  RankedTensorType type = typeOf(op.getInputs()[0]);
  OwnLoops loops;
  std::optional<DigitSort> sort = digitSort(op);
  // The work of a merge, which threads of a GPU do.
  int64_t rounds = llvm::Log2_64_Ceil(type.getDimSize(op.getDim()) + 1);
  loops.work = saturatingMultiply(type.getNumElements(), 4 * rounds);
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (dim != op.getDim())
      loops.independent.push_back({dim, size});
  loops.workingBytes = sort ? sort->bytes() : 0;
  return loops;
}

} // namespace weft::nest
