//===- TensorOps.cpp - the meaning of upstream's tensor ops ---------------===//

#include "weft/passes/interpret/ForeignMeanings.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;

/// The values of a list of constants and operands; the operands start at
/// `next`.
static SmallVector<int64_t> numbers(ArrayRef<int64_t> fixed, Operands in,
                                    unsigned &next) {
  SmallVector<int64_t> result(fixed);
  for (int64_t &number : result)
    if (ShapedType::isDynamic(number))
      number = in[next++]->integer(0);
  return result;
}

/// Row-major positions of a block's elements in the tensor that contains it.
static std::vector<int64_t> placesOf(OffsetSizeAndStrideOpInterface block,
                                     Operands in, ArrayRef<int64_t> around) {
  unsigned next = block.getOffsetSizeAndStrideStartOperandIndex();
  SmallVector<int64_t> starts = numbers(block.getStaticOffsets(), in, next);
  SmallVector<int64_t> sizes = numbers(block.getStaticSizes(), in, next);
  SmallVector<int64_t> by = numbers(block.getStaticStrides(), in, next);
  SmallVector<int64_t, 4> strides = stridesOf(around);
  int64_t start = 0;
  for (size_t dim = 0; dim < starts.size(); ++dim) {
    start += starts[dim] * strides[dim];
    strides[dim] *= by[dim];
  }
  return offsets(sizes, strides, start);
}

static Tensor extractSlice(tensor::ExtractSliceOp op, Operands in) {
  Tensor result = storedTensor(op.getType());
  for (auto [i, place] : llvm::enumerate(placesOf(op, in, in[0]->getShape())))
    result.copy(i, *in[0], place);
  return result;
}

static Tensor insertSlice(tensor::InsertSliceOp op, Operands in) {
  Tensor result = *in[1];
  for (auto [i, place] : llvm::enumerate(placesOf(op, in, in[1]->getShape())))
    result.copy(place, *in[0], i);
  return result;
}

static Tensor reshaped(Type type, const Tensor &from) {
  Tensor result = storedTensor(type);
  for (int64_t i = 0; i < result.size(); ++i)
    result.copy(i, from, i);
  return result;
}

static Tensor concat(tensor::ConcatOp op, Operands in) {
  Tensor result = storedTensor(op.getType());
  SmallVector<int64_t, 4> strides = stridesOf(result.getShape());
  int64_t start = 0;
  for (const Tensor *input : in) {
    for (auto [i, place] :
         llvm::enumerate(offsets(input->getShape(), strides, start)))
      result.copy(place, *input, i);
    start += input->getShape()[op.getDim()] * strides[op.getDim()];
  }
  return result;
}

static int64_t placeOf(const Tensor &tensor, Operands indices) {
  int64_t place = 0;
  for (auto [index, stride] :
       llvm::zip_equal(indices, stridesOf(tensor.getShape())))
    place += index->integer(0) * stride;
  return place;
}

static Tensor extract(tensor::ExtractOp op, Operands in) {
  Tensor result = storedTensor(op.getType());
  int64_t place = placeOf(*in[0], in.drop_front());
  if (place >= 0 && place < in[0]->size())
    result.copy(0, *in[0], place);
  else
    result.setPadding(0);
  return result;
}

static Tensor fromElements(tensor::FromElementsOp op, Operands in) {
  Tensor result = storedTensor(op.getType());
  for (auto [i, element] : llvm::enumerate(in))
    result.copy(i, *element, 0);
  return result;
}

/// A tensor of undefined elements, on which no result may depend.
static Tensor undefined(Type type) {
  Tensor result = storedTensor(type);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setPadding(i);
  return result;
}

std::optional<Tensor> weft::meaningOfTensorOp(Operation *op, Operands in) {
  using Result = std::optional<Tensor>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tensor::EmptyOp empty) { return undefined(empty.getType()); })
      .Case([&](tensor::SplatOp splat) {
        Tensor result = storedTensor(splat.getType());
        for (int64_t i = 0; i < result.size(); ++i)
          result.copy(i, *in[0], 0);
        return result;
      })
      .Case(
          [&](tensor::ExtractSliceOp slice) { return extractSlice(slice, in); })
      .Case([&](tensor::InsertSliceOp slice) { return insertSlice(slice, in); })
      .Case([&](tensor::ConcatOp join) { return concat(join, in); })
      .Case([&](tensor::ExtractOp element) { return extract(element, in); })
      .Case([&](tensor::FromElementsOp elements) {
        return fromElements(elements, in);
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
          [&](auto reshape) { return reshaped(reshape.getType(), *in[0]); })
      .Default([](Operation *) { return Result(); });
}
