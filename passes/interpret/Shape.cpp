//===- Shape.cpp - the meaning of ops that move elements ------------------===//

#include "weft/dialects/weft/Weft.h"
#include "weft/passes/interpret/Meanings.h"

using namespace mlir;

namespace weft {

namespace {

/// Gathers elements: result element r is input element from[r].
Tensor take(const Tensor &input, ArrayRef<int64_t> shape,
            const std::vector<int64_t> &from) {
  Tensor result(shape, input.getElementType());
  for (int64_t i = 0; i < result.size(); ++i)
    result.copy(i, input, from[i]);
  return result;
}

/// Scatters elements: input element i becomes result element to[i].
void put(Tensor &result, const Tensor &input, const std::vector<int64_t> &to) {
  for (int64_t i = 0; i < input.size(); ++i)
    result.copy(to[i], input, i);
}

Tensor broadcast(BroadcastOp op, const Tensor &x, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 0);
  for (auto [dim, stride] :
       llvm::zip_equal(op.getDims(), stridesOf(x.getShape())))
    strides[dim] = stride;
  return take(x, shape, offsets(shape, strides));
}

Tensor transpose(TransposeOp op, const Tensor &x, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides;
  SmallVector<int64_t, 4> inputStrides = stridesOf(x.getShape());
  for (int64_t dim : op.getPermutation())
    strides.push_back(inputStrides[dim]);
  return take(x, shape, offsets(shape, strides));
}

Tensor slice(SliceOp op, const Tensor &x, ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides = stridesOf(x.getShape());
  int64_t start = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    start += op.getStart()[dim] * strides[dim];
    strides[dim] *= op.getStride()[dim];
  }
  return take(x, shape, offsets(shape, strides, start));
}

/// Copies every input element whose position exists in the result; all other
/// elements are the padding value, or 0 if the op has none.
Tensor pad(PadOp op, Operands in, ArrayRef<int64_t> shape) {
  const Tensor &x = *in[0];
  Tensor result(shape, x.getElementType());
  for (int64_t i = 0; in.size() > 1 && i < result.size(); ++i)
    result.copy(i, *in[1], 0);
  SmallVector<int64_t, 4> strides = stridesOf(shape);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t to = 0;
    bool inside = true;
    for (auto [dim, index] : llvm::enumerate(indexOf(i, x.getShape()))) {
      int64_t place = op.getLow()[dim] + index * (op.getInterior()[dim] + 1);
      inside &= place >= 0 && place < shape[dim];
      to += place * strides[dim];
    }
    if (inside)
      result.copy(to, x, i);
  }
  return result;
}

/// Gathers by dimension: result element [i, j, ...] is the input's at [from(0,
/// i), from(1, j), ...].
Tensor takeByDim(const Tensor &x, ArrayRef<int64_t> shape,
                 llvm::function_ref<int64_t(unsigned dim, int64_t i)> from) {
  Tensor result(shape, x.getElementType());
  SmallVector<int64_t, 4> strides = stridesOf(x.getShape());
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t offset = 0;
    for (auto [dim, index] : llvm::enumerate(indexOf(i, shape)))
      offset += from(dim, index) * strides[dim];
    result.copy(i, x, offset);
  }
  return result;
}

Tensor reverse(ReverseOp op, const Tensor &x) {
  return takeByDim(x, x.getShape(), [&](unsigned dim, int64_t i) {
    bool turned = llvm::is_contained(op.getDims(), static_cast<int64_t>(dim));
    return turned ? x.getShape()[dim] - 1 - i : i;
  });
}

Tensor roll(RollOp op, const Tensor &x) {
  return takeByDim(x, x.getShape(), [&](unsigned dim, int64_t i) {
    int64_t size = x.getShape()[dim];
    int64_t from = (i - op.getShift()[dim]) % size;
    return from < 0 ? from + size : from;
  });
}

/// The start of a block, clamped so that the block is in the tensor.
SmallVector<int64_t> clampedStarts(Operands starts, ArrayRef<int64_t> whole,
                                   ArrayRef<int64_t> block) {
  SmallVector<int64_t> result;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    int64_t last = whole[dim] - block[dim];
    // An unsigned 64-bit start above INT64_MAX is past the end.
    bool huge = start->isUnsigned() && start->integer(0) < 0;
    result.push_back(huge ? last
                          : std::clamp<int64_t>(start->integer(0), 0, last));
  }
  return result;
}

Tensor dynamicSlice(Operands in, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> starts =
      clampedStarts(in.drop_front(), in[0]->getShape(), shape);
  return takeByDim(*in[0], shape,
                   [&](unsigned dim, int64_t i) { return starts[dim] + i; });
}

Tensor dynamicUpdateSlice(Operands in) {
  Tensor result = *in[0];
  SmallVector<int64_t> starts =
      clampedStarts(in.drop_front(2), in[0]->getShape(), in[1]->getShape());
  SmallVector<int64_t, 4> strides = stridesOf(result.getShape());
  int64_t first = 0;
  for (auto [start, stride] : llvm::zip_equal(starts, strides))
    first += start * stride;
  put(result, *in[1], offsets(in[1]->getShape(), strides, first));
  return result;
}

Tensor concatenate(ConcatenateOp op, Operands in, ArrayRef<int64_t> shape) {
  Tensor result(shape, in[0]->getElementType());
  SmallVector<int64_t, 4> strides = stridesOf(shape);
  int64_t position = 0;
  for (const Tensor *input : in) {
    put(result, *input,
        offsets(input->getShape(), strides, position * strides[op.getDim()]));
    position += input->getShape()[op.getDim()];
  }
  return result;
}

Tensor moved(MoveOp op, Operands in, ArrayRef<int64_t> shape) {
  Tensor result(shape, in[0]->getElementType());
  for (const MovedBox &box : op.getBoxes().getBoxes())
    fillBox(result, *in[box.operand], box);
  return result;
}

} // namespace

void fillBox(Tensor &target, const Tensor &source, const MovedBox &box) {
  SmallVector<int64_t, 4> to = stridesOf(target.getShape()),
                          from = stridesOf(source.getShape());
  SmallVector<int64_t> sourceStrides(box.count.size(), 0);
  int64_t first = 0, firstRead = 0;
  for (size_t r = 0; r < box.count.size(); ++r) {
    first += box.start[r] * to[r];
    to[r] *= box.step[r];
  }
  for (size_t d = 0; d < box.dim.size(); ++d) {
    firstRead += box.offset[d] * from[d];
    if (box.dim[d] >= 0)
      sourceStrides[box.dim[d]] = box.stride[d] * from[d];
  }
  for (auto [place, read] :
       llvm::zip_equal(offsets(box.count, to, first),
                       offsets(box.count, sourceStrides, firstRead)))
    target.copy(place, source, read);
}

std::optional<Tensor> meaningOfShape(Operation *op, Operands in) {
  if (op->getNumResults() != 1 || in.empty())
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape();
  if (isa<ReshardOp>(op))
    return *in[0];
  if (isa<ReshapeOp>(op))
    return take(*in[0], shape, offsets({in[0]->size()}, {1}));
  if (auto broadcastOp = dyn_cast<BroadcastOp>(op))
    return broadcast(broadcastOp, *in[0], shape);
  if (auto transposeOp = dyn_cast<TransposeOp>(op))
    return transpose(transposeOp, *in[0], shape);
  if (auto sliceOp = dyn_cast<SliceOp>(op))
    return slice(sliceOp, *in[0], shape);
  if (auto padOp = dyn_cast<PadOp>(op))
    return pad(padOp, in, shape);
  if (auto concatenateOp = dyn_cast<ConcatenateOp>(op))
    return concatenate(concatenateOp, in, shape);
  if (auto reverseOp = dyn_cast<ReverseOp>(op))
    return reverse(reverseOp, *in[0]);
  if (auto rollOp = dyn_cast<RollOp>(op))
    return roll(rollOp, *in[0]);
  if (auto moveOp = dyn_cast<MoveOp>(op))
    return moved(moveOp, in, shape);
  if (isa<DynamicSliceOp>(op))
    return dynamicSlice(in, shape);
  if (isa<DynamicUpdateSliceOp>(op))
    return dynamicUpdateSlice(in);
  return std::nullopt;
}

} // namespace weft
