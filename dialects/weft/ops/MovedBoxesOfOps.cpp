//===- MovedBoxesOfOps.cpp - what each moving op moves --------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/layout/MovedBoxes.h"
#include "weft/layout/Sizes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

using Boxes = std::optional<MovedBoxes>;

static bool isEmpty(Value value) { return typeOf(value).getNumElements() == 0; }

/// Layouts do not pass.
Boxes ReshardOp::getMovedBoxes() { return std::nullopt; }

Boxes ReshardOp::getMovedParts() {
  return MovedBoxes{MovedBox::all(0, typeOf(getResult()).getShape())};
}

Boxes BroadcastOp::getMovedBoxes() {
  if (isEmpty(getResult()))
    return std::nullopt;
  MovedBox box = MovedBox::all(0, getType().getShape());
  box.dim.assign(getDims().begin(), getDims().end());
  box.offset.assign(box.dim.size(), 0);
  box.stride.assign(box.dim.size(), 1);
  return MovedBoxes{box};
}

Boxes TransposeOp::getMovedBoxes() {
  if (isEmpty(getResult()))
    return std::nullopt;
  MovedBox box = MovedBox::all(0, getType().getShape());
  for (auto [dim, from] : llvm::enumerate(getPermutation()))
    box.dim[from] = dim;
  return MovedBoxes{box};
}

/// A reshape that only adds or removes dimensions of one.
Boxes ReshapeOp::getMovedBoxes() {
  ArrayRef<int64_t> from = getInput().getType().getShape(),
                    to = getType().getShape();
  if (isEmpty(getResult()))
    return std::nullopt;
  MovedBox box = MovedBox::all(0, to);
  box.dim.assign(from.size(), -1);
  box.offset.assign(from.size(), 0);
  box.stride.assign(from.size(), 0);
  size_t r = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 1)
      continue;
    while (r < to.size() && to[r] == 1)
      ++r;
    if (r == to.size() || to[r] != from[d])
      return std::nullopt;
    box.dim[d] = r++;
    box.stride[d] = 1;
  }
  return MovedBoxes{box};
}

namespace {
/// Consecutive positions of one dimension of both shapes of a reshape: [2, 6] to
/// [4, 3] has the digits 2, 2 and 3.
struct Digit {
  size_t from = 0, to = 0;          ///< the dimensions
  int64_t size = 1;                 ///< positions
  int64_t fromStep = 1, toStep = 1; ///< between two of them, in each dimension
  bool isFree = false;              ///< all in one box
};
} // namespace

/// The digits of a reshape from the last one; none if dimensions are cut where
/// they do not divide each other.
static SmallVector<Digit> digitsOf(ArrayRef<int64_t> from,
                                   ArrayRef<int64_t> to) {
  SmallVector<Digit> digits;
  Digit next{from.size(), to.size()};
  int64_t restFrom = 1, restTo = 1;
  for (;;) {
    while (restFrom == 1 && next.from > 0) {
      restFrom = from[--next.from];
      next.fromStep = 1;
    }
    while (restTo == 1 && next.to > 0) {
      restTo = to[--next.to];
      next.toStep = 1;
    }
    next.size = std::min(restFrom, restTo);
    if (next.size == 1)
      return digits;
    if (restFrom % next.size != 0 || restTo % next.size != 0)
      return {};
    digits.push_back(next);
    restFrom /= next.size;
    restTo /= next.size;
    next.fromStep *= next.size;
    next.toStep *= next.size;
  }
}

/// Frees one digit of each dimension, the largest ones first, and returns the
/// number of boxes: one for each position of the other digits.
static int64_t freeDigits(MutableArrayRef<Digit> digits) {
  SmallVector<Digit *> bySize;
  for (Digit &digit : digits)
    bySize.push_back(&digit);
  llvm::stable_sort(bySize,
                    [](Digit *a, Digit *b) { return a->size > b->size; });
  int64_t boxes = 1;
  for (Digit *digit : bySize) {
    digit->isFree = llvm::none_of(digits, [&](const Digit &other) {
      return other.isFree &&
             (other.from == digit->from || other.to == digit->to);
    });
    if (!digit->isFree)
      boxes = saturatingMultiply(boxes, digit->size);
  }
  return boxes;
}

/// The box of number `index`.
static MovedBox boxOfDigits(ArrayRef<Digit> digits, int64_t index,
                            size_t fromRank, size_t toRank) {
  MovedBox box;
  box.start.assign(toRank, 0);
  box.count.assign(toRank, 1);
  box.step.assign(toRank, 1);
  box.dim.assign(fromRank, -1);
  box.offset.assign(fromRank, 0);
  box.stride.assign(fromRank, 0);
  for (const Digit &digit : digits) {
    if (digit.isFree) {
      box.count[digit.to] = digit.size;
      box.step[digit.to] = digit.toStep;
      box.dim[digit.from] = int64_t(digit.to);
      box.stride[digit.from] = digit.fromStep;
      continue;
    }
    box.start[digit.to] += index % digit.size * digit.toStep;
    box.offset[digit.from] += index % digit.size * digit.fromStep;
    index /= digit.size;
  }
  return box;
}

Boxes ReshapeOp::getMovedParts() {
  constexpr int64_t kMostParts = 16;
  if (Boxes boxes = getMovedBoxes(); boxes || isEmpty(getResult()))
    return boxes;
  ArrayRef<int64_t> from = getInput().getType().getShape(),
                    to = getType().getShape();
  SmallVector<Digit> digits = digitsOf(from, to);
  int64_t count = freeDigits(digits);
  if (digits.empty() || count > kMostParts)
    return std::nullopt;
  MovedBoxes boxes;
  for (int64_t index = 0; index < count; ++index)
    boxes.push_back(boxOfDigits(digits, index, from.size(), to.size()));
  return boxes;
}

Boxes weft::SliceOp::getMovedBoxes() {
  if (isEmpty(getResult()))
    return std::nullopt;
  MovedBox box = MovedBox::all(0, getType().getShape());
  box.offset.assign(getStart().begin(), getStart().end());
  box.stride.assign(getStride().begin(), getStride().end());
  return MovedBoxes{box};
}

/// Adds boxes of one element, operand `operand`, to all that `taken`, one box of
/// step 1, leaves of a result.
static void fillAround(const MovedBox &taken, ArrayRef<int64_t> shape,
                       const MovedBox &filling, MovedBoxes &boxes) {
  std::vector<int64_t> start(shape.size(), 0), count(shape);
  auto add = [&](size_t r, int64_t first, int64_t last) {
    if (first >= last)
      return;
    MovedBox box = filling;
    for (size_t d = 0; d < box.dim.size(); ++d)
      if (box.dim[d] >= 0)
        box.offset[d] += start[box.dim[d]];
    box.start = start;
    box.count = count;
    for (size_t d = 0; d < box.dim.size(); ++d)
      if (box.dim[d] == int64_t(r))
        box.offset[d] = filling.offset[d] + first;
    box.start[r] = first;
    box.count[r] = last - first;
    boxes.push_back(box);
  };
  for (size_t r = 0; r < shape.size(); ++r) {
    add(r, 0, taken.start[r]);
    add(r, taken.start[r] + taken.count[r], shape[r]);
    start[r] = taken.start[r];
    count[r] = taken.count[r];
  }
}

/// A box whose only element is a scalar operand.
static MovedBox filled(int64_t operand, ArrayRef<int64_t> shape) {
  MovedBox box = MovedBox::all(operand, shape);
  box.dim.clear();
  box.offset.clear();
  box.stride.clear();
  return box;
}

Boxes PadOp::getMovedBoxes() {
  ArrayRef<int64_t> from = getInput().getType().getShape(),
                    to = getType().getShape();
  if (isEmpty(getResult()) || isEmpty(getInput()))
    return std::nullopt;
  MovedBoxes boxes;
  MovedBox box = MovedBox::all(0, to);
  bool isDense = true;
  for (size_t d = 0; d < from.size(); ++d) {
    int64_t step = from[d] > 1 ? getInterior()[d] + 1 : 1;
    isDense &= step == 1;
    std::optional<WalkPart> part =
        partInside(getLow()[d], step, from[d], {0, to[d]});
    if (!part)
      return std::nullopt;
    box.start[d] = getLow()[d] + step * part->first;
    box.count[d] = part->count;
    box.step[d] = part->count > 1 ? step : 1;
    box.offset[d] = part->first;
  }
  boxes.push_back(box);
  if (getValue()) {
    if (!isDense)
      return std::nullopt;
    fillAround(box, to, filled(1, to), boxes);
  }
  return boxes;
}

Boxes ConcatenateOp::getMovedBoxes() {
  if (isEmpty(getResult()))
    return std::nullopt;
  MovedBoxes boxes;
  int64_t start = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    MovedBox box = MovedBox::all(index, typeOf(input).getShape());
    box.start[getDim()] = start;
    if (box.elements() != 0)
      boxes.push_back(box);
    start += box.count[getDim()];
  }
  return boxes;
}

Boxes ReverseOp::getMovedBoxes() {
  if (isEmpty(getResult()))
    return std::nullopt;
  MovedBox box = MovedBox::all(0, getType().getShape());
  for (int64_t dim : getDims())
    if (box.count[dim] > 1) {
      box.offset[dim] = box.count[dim] - 1;
      box.stride[dim] = -1;
    }
  return MovedBoxes{box};
}

Boxes RollOp::getMovedBoxes() {
  if (isEmpty(getResult()))
    return std::nullopt;
  MovedBoxes boxes = {MovedBox::all(0, getType().getShape())};
  for (auto [dim, size] : llvm::enumerate(getType().getShape())) {
    int64_t shift = ((getShift()[dim] % size) + size) % size;
    if (shift == 0)
      continue;
    for (size_t i = 0, n = boxes.size(); i < n; ++i) {
      MovedBox turned = boxes[i];
      turned.count[dim] = shift;
      turned.offset[dim] = size - shift;
      boxes.push_back(turned);
      boxes[i].start[dim] = shift;
      boxes[i].count[dim] = size - shift;
    }
  }
  return boxes;
}

/// The starts of a block, moved inside; nothing if they are no constants.
static std::optional<SmallVector<int64_t>>
constantStarts(ValueRange starts, ArrayRef<int64_t> whole,
               ArrayRef<int64_t> block) {
  SmallVector<int64_t> result;
  for (auto [start, size, part] : llvm::zip_equal(starts, whole, block)) {
    APInt value;
    if (!matchPattern(start, m_ConstantInt(&value)) || value.getBitWidth() > 64)
      return std::nullopt;
    bool isUnsigned = typeOf(start).getElementType().isUnsignedInteger();
    int64_t last = size - part;
    int64_t at = isUnsigned ? int64_t(value.getLimitedValue(last))
                            : value.getSExtValue();
    result.push_back(std::clamp<int64_t>(at, 0, last));
  }
  return result;
}

Boxes DynamicSliceOp::getMovedBoxes() {
  ArrayRef<int64_t> shape = getType().getShape();
  auto starts =
      constantStarts(getStarts(), getInput().getType().getShape(), shape);
  if (!starts || isEmpty(getResult()))
    return std::nullopt;
  MovedBox box = MovedBox::all(0, shape);
  box.offset.assign(starts->begin(), starts->end());
  return MovedBoxes{box};
}

Boxes DynamicUpdateSliceOp::getMovedBoxes() {
  ArrayRef<int64_t> shape = getType().getShape();
  auto starts =
      constantStarts(getStarts(), shape, getUpdate().getType().getShape());
  if (!starts || isEmpty(getUpdate()))
    return std::nullopt;
  MovedBox update = MovedBox::all(1, getUpdate().getType().getShape());
  update.start.assign(starts->begin(), starts->end());
  MovedBoxes boxes = {update};
  fillAround(update, shape, MovedBox::all(0, shape), boxes);
  return boxes;
}

//===----------------------------------------------------------------------===//
// Gathers and scatters of one block
//===----------------------------------------------------------------------===//

/// The start of the only block in each dimension of the tensor; nothing if there
/// are several, or if the indices are no constants.
static std::optional<SmallVector<int64_t>>
constantStart(Value indices, const IndexedBlocks &its) {
  DenseElementsAttr data;
  if (!matchPattern(indices, m_Constant(&data)) || !its.batchingDims.empty() ||
      data.getNumElements() != its.vectorSize() ||
      !isa<IntegerType>(data.getElementType()) ||
      data.getElementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  SmallVector<int64_t> start(its.tensor.getRank(), 0);
  bool isUnsigned = data.getElementType().isUnsignedInteger();
  constexpr int64_t kOutside = kMostBytes; // no tensor has as many positions
  for (auto [dim, value] :
       llvm::zip_equal(its.indexMap, data.getValues<APInt>()))
    start[dim] = isUnsigned
                     ? int64_t(value.getLimitedValue(kOutside))
                     : std::clamp(value.getSExtValue(), -kOutside, kOutside);
  return start;
}

/// For each dimension of the tensor that of the blocks, or -1.
static SmallVector<int64_t> dimsOfBlocks(const IndexedBlocks &its) {
  SmallVector<int64_t> dims(its.tensor.getRank(), -1);
  for (auto [dim, block] : llvm::zip_equal(its.tensorDims(), its.blockDims))
    dims[dim] = block;
  return dims;
}

Boxes GatherOp::getMovedBoxes() {
  IndexedBlocks its = getBlocks();
  auto start = constantStart(getIndices(), its);
  if (!start || isEmpty(getResult()))
    return std::nullopt;
  MovedBox box = MovedBox::all(0, its.blocks.getShape());
  SmallVector<int64_t> dims = dimsOfBlocks(its);
  box.dim.assign(dims.begin(), dims.end());
  box.offset.clear();
  box.stride.clear();
  for (auto [dim, size] : llvm::enumerate(its.tensor.getShape())) {
    // A block is moved inside.
    box.offset.push_back(
        std::clamp<int64_t>((*start)[dim], 0, size - its.extent(dim)));
    box.stride.push_back(dims[dim] < 0 ? 0 : 1);
  }
  return MovedBoxes{box};
}

Boxes ScatterOp::getMovedBoxes() {
  IndexedBlocks its = getBlocks();
  auto start = constantStart(getIndices(), its);
  if (getKind() != ScatterKind::Set || !start || isEmpty(getUpdates()))
    return std::nullopt;
  ArrayRef<int64_t> shape = its.tensor.getShape();
  MovedBox update = MovedBox::all(2, shape);
  update.dim.assign(its.blocks.getRank(), -1);
  update.offset.assign(update.dim.size(), 0);
  update.stride.assign(update.dim.size(), 0);
  SmallVector<int64_t> dims = dimsOfBlocks(its);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    // Positions outside of the tensor are left out.
    std::optional<WalkPart> part =
        partInside((*start)[dim], 1, its.extent(dim), {0, size});
    if (!part)
      return MovedBoxes{MovedBox::all(0, shape)};
    update.start[dim] = (*start)[dim] + part->first;
    update.count[dim] = part->count;
    if (int64_t block = dims[dim]; block >= 0) {
      update.dim[block] = dim;
      update.offset[block] = part->first;
      update.stride[block] = 1;
    }
  }
  MovedBoxes boxes = {update};
  fillAround(update, shape, MovedBox::all(0, shape), boxes);
  return boxes;
}
