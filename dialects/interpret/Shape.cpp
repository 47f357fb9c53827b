//===- Shape.cpp - the meaning of ops that move elements
//-------------------===//

#include "weft/dialects/interpret/Meanings.h"
#include "weft/dialects/weft/Weft.h"

using namespace mlir;

namespace weft {

namespace {

/// Element r of the result is input element from[r].
Tensor take(const Tensor &input, ArrayRef<int64_t> shape,
            const std::vector<int64_t> &from) {
  Tensor result(shape, input.getElementType());
  for (int64_t i = 0; i < result.size(); ++i)
    result.copy(i, input, from[i]);
  return result;
}

/// Input element i becomes element to[i] of the result.
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

Tensor pad(PadOp op, const Tensor &x, ArrayRef<int64_t> shape) {
  Tensor result(shape, x.getElementType());
  SmallVector<int64_t, 4> strides = stridesOf(shape);
  int64_t start = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    start += op.getLow()[dim] * strides[dim];
    strides[dim] *= op.getInterior()[dim] + 1;
  }
  put(result, x, offsets(x.getShape(), strides, start));
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

} // namespace

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
    return pad(padOp, *in[0], shape);
  if (auto concatenateOp = dyn_cast<ConcatenateOp>(op))
    return concatenate(concatenateOp, in, shape);
  return std::nullopt;
}

} // namespace weft
