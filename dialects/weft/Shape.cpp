//===- Shape.cpp - ops that move elements ----------------------------------===//

#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace weft;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, typeOf(value).getElementType());
}

/// The result has this shape, whatever its layout.
static LogicalResult checkShape(Operation *op, ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> actual = typeOf(op->getResult(0)).getShape();
  if (actual == expected)
    return success();
  InFlightDiagnostic error = op->emitOpError("the result's shape should be [");
  llvm::interleaveComma(expected, error);
  error << "], not [";
  llvm::interleaveComma(actual, error);
  return error << ']';
}

/// One entry for each dimension of the input.
static LogicalResult checkEntries(Operation *op, StringRef what, size_t entries,
                                  size_t rank) {
  if (entries == rank)
    return success();
  return op->emitOpError() << what << " has " << entries << " entries for "
                           << rank << " dimensions";
}

/// A splat of the result's shape where the input is one. The data never has a
/// layout, so none is lost.
static OpFoldResult foldSplat(Attribute input, Value result) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(input))
    return splat.resizeSplat(withLayout(typeOf(result), {}));
  return {};
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

void BroadcastOp::build(OpBuilder &builder, OperationState &state, Value input,
                        ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  build(builder, state, withShape(input, shape), input, dims);
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (failed(checkEntries(*this, "dims", getDims().size(),
                          input.getRank()))) // (C1)
    return failure();
  int64_t previous = -1;
  for (auto [index, dim] : llvm::enumerate(getDims())) {
    if (dim <= previous) // (C2)
      return emitOpError("dims should rise from 0, but ")
             << dim << " follows " << previous;
    if (dim >= result.getRank()) // (C2)
      return emitOpError("dim ")
             << dim << " is out of the result's rank " << result.getRank();
    if (input.getDimSize(index) != result.getDimSize(dim)) // (C3)
      return emitOpError("dim ")
             << index << " of the input has size " << input.getDimSize(index)
             << ", but dim " << dim << " of the result "
             << result.getDimSize(dim);
    previous = dim;
  }
  return success();
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors &input = rule.operands.emplace_back();
  TensorFactors &result = rule.results.emplace_back();
  for (auto [dim, size] : llvm::enumerate(typeOf(getResult()).getShape())) {
    rule.factors.push_back({size, FactorKind::Pass});
    result.push_back({static_cast<unsigned>(dim)});
  }
  for (int64_t dim : getDims())
    input.push_back({static_cast<unsigned>(dim)});
  rule.linearity = {Linearity::Moving};
  return rule;
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return foldSplat(adaptor.getInput(), getResult());
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> permuted(ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(permutation,
                             [&](int64_t dim) { return shape[dim]; });
}

void TransposeOp::build(OpBuilder &builder, OperationState &state, Value input,
                        ArrayRef<int64_t> permutation) {
  build(builder, state,
        withShape(input, permuted(typeOf(input).getShape(), permutation)),
        input, permutation);
}

LogicalResult TransposeOp::verify() {
  RankedTensorType input = typeOf(getInput());
  size_t rank = input.getRank();
  if (failed(checkEntries(*this, "permutation", getPermutation().size(),
                          rank))) // (C1)
    return failure();
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : getPermutation()) { // (C1)
    if (dim < 0 || dim >= static_cast<int64_t>(rank))
      return emitOpError("dim ") << dim << " is out of the rank " << rank;
    if (seen.test(dim))
      return emitOpError("dim ") << dim << " is used twice";
    seen.set(dim);
  }
  return checkShape(*this,
                    permuted(input.getShape(), getPermutation())); // (C2)
}

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors &input = rule.operands.emplace_back();
  TensorFactors &result = rule.results.emplace_back();
  for (auto [dim, size] : llvm::enumerate(typeOf(getInput()).getShape())) {
    rule.factors.push_back({size, FactorKind::Pass});
    input.push_back({static_cast<unsigned>(dim)});
  }
  for (int64_t dim : getPermutation())
    result.push_back({static_cast<unsigned>(dim)});
  rule.linearity = {Linearity::Moving};
  return rule;
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  bool identity = llvm::all_of(llvm::enumerate(getPermutation()), [](auto it) {
    return static_cast<int64_t>(it.index()) == it.value();
  });
  if (identity && getInput().getType() == getType())
    return getInput();
  return foldSplat(adaptor.getInput(), getResult());
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value input,
                      ArrayRef<int64_t> shape) {
  build(builder, state, withShape(input, shape), input);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (!input.hasStaticShape() || !result.hasStaticShape())
    return success();
  if (input.getNumElements() != result.getNumElements()) // (C1)
    return emitOpError("the input has ")
           << input.getNumElements() << " elements, but the result "
           << result.getNumElements();
  return success();
}

ShardingRule ReshapeOp::getShardingRule() {
  return reshapeRule(typeOf(getInput()).getShape(),
                     typeOf(getResult()).getShape());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  // A reshape of a reshape is one, but not across layouts.
  auto inner = getInput().getDefiningOp<ReshapeOp>();
  if (inner && !getLayout(inner.getInput().getType()) &&
      !getLayout(inner.getType()) && !getLayout(getType())) {
    if (inner.getInput().getType() == getType())
      return inner.getInput();
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return foldSplat(adaptor.getInput(), getResult());
}

//===----------------------------------------------------------------------===//
// Slice, pad, concatenate: dimensions they change are shifts
//===----------------------------------------------------------------------===//

/// Dimensions of equal size and position pass; others have the larger size.
static ShardingRule shiftRule(RankedTensorType input, RankedTensorType result,
                              llvm::function_ref<bool(unsigned)> passes) {
  ShardingRule rule;
  TensorFactors &factors = rule.operands.emplace_back();
  for (unsigned dim = 0; dim < result.getRank(); ++dim) {
    factors.push_back({dim});
    rule.factors.push_back(
        {std::max(input.getDimSize(dim), result.getDimSize(dim)),
         passes(dim) ? FactorKind::Pass : FactorKind::Shift});
  }
  rule.results.push_back(factors);
  rule.linearity = {Linearity::Moving};
  return rule;
}

static SmallVector<int64_t> sliceShape(ArrayRef<int64_t> start,
                                       ArrayRef<int64_t> limit,
                                       ArrayRef<int64_t> stride) {
  SmallVector<int64_t> shape;
  for (auto [s, l, by] : llvm::zip(start, limit, stride))
    shape.push_back((l - s + by - 1) / by);
  return shape;
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value input,
                    ArrayRef<int64_t> start, ArrayRef<int64_t> limit,
                    ArrayRef<int64_t> stride) {
  build(builder, state, withShape(input, sliceShape(start, limit, stride)),
        input, start, limit, stride);
}

LogicalResult SliceOp::verify() {
  RankedTensorType input = typeOf(getInput());
  size_t rank = input.getRank();
  if (failed(checkEntries(*this, "start", getStart().size(), rank)) ||
      failed(checkEntries(*this, "limit", getLimit().size(), rank)) ||
      failed(checkEntries(*this, "stride", getStride().size(), rank))) // (C1)
    return failure();
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t start = getStart()[dim], limit = getLimit()[dim];
    if (start < 0 || limit < start || limit > input.getDimSize(dim)) // (C2)
      return emitOpError("takes [")
             << start << ", " << limit << ") of dim " << dim << " of size "
             << input.getDimSize(dim);
    if (getStride()[dim] < 1) // (C2)
      return emitOpError("stride of dim ")
             << dim << " is " << getStride()[dim] << ", the least is 1";
  }
  return checkShape(*this,
                    sliceShape(getStart(), getLimit(), getStride())); // (C3)
}

ShardingRule SliceOp::getShardingRule() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  ShardingRule rule = shiftRule(input, result, [&](unsigned dim) {
    return input.getDimSize(dim) == result.getDimSize(dim);
  });
  for (unsigned dim = 0; dim < result.getRank(); ++dim)
    if (rule.factors[dim].kind == FactorKind::Shift)
      rule.positions.push_back(
          {0, 0, dim, getStride()[dim], getStart()[dim], 1, 1});
  return rule;
}

static SmallVector<int64_t> padShape(ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> low,
                                     ArrayRef<int64_t> high,
                                     ArrayRef<int64_t> interior) {
  SmallVector<int64_t> result;
  for (auto [size, l, h, between] : llvm::zip(shape, low, high, interior))
    result.push_back(l + size + std::max<int64_t>(size - 1, 0) * between + h);
  return result;
}

void PadOp::build(OpBuilder &builder, OperationState &state, Value input,
                  ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                  ArrayRef<int64_t> interior) {
  build(builder, state,
        withShape(input,
                  padShape(typeOf(input).getShape(), low, high, interior)),
        input, low, high, interior);
}

LogicalResult PadOp::verify() {
  RankedTensorType input = typeOf(getInput());
  for (auto [what, list] :
       {std::pair("low", getLow()), std::pair("high", getHigh()),
        std::pair("interior", getInterior())}) {
    if (failed(checkEntries(*this, what, list.size(), input.getRank()))) // (C1)
      return failure();
    for (auto [dim, amount] : llvm::enumerate(list))
      if (amount < 0) // (C2)
        return emitOpError() << what << " of dim " << dim << " is " << amount
                             << ", the least is 0";
  }
  return checkShape(*this, padShape(input.getShape(), getLow(), getHigh(),
                                    getInterior())); // (C3)
}

ShardingRule PadOp::getShardingRule() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  ShardingRule rule = shiftRule(input, result, [&](unsigned dim) {
    return input.getDimSize(dim) == result.getDimSize(dim);
  });
  for (unsigned dim = 0; dim < result.getRank(); ++dim)
    if (rule.factors[dim].kind == FactorKind::Shift && getInterior()[dim] == 0)
      rule.positions.push_back({0, 0, dim, 1, -getLow()[dim], 1, 1});
  return rule;
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty()) // (C1)
    return emitOpError("needs at least one input");
  RankedTensorType result = typeOf(getResult());
  int64_t dim = getDim(), sum = 0;
  if (dim < 0 || dim >= result.getRank())
    return emitOpError("dim ")
           << dim << " is out of the rank " << result.getRank();
  for (auto [index, value] : llvm::enumerate(getInputs())) {
    RankedTensorType input = typeOf(value);
    SmallVector<int64_t> expected(result.getShape());
    if (input.getRank() == result.getRank())
      expected[dim] = input.getDimSize(dim);
    if (input.getShape() != ArrayRef(expected) ||
        input.getElementType() != result.getElementType()) // (C2)
      return emitOpError("input ")
             << index << " is " << input << ", which does not fit in " << result
             << " along dim " << dim;
    sum += input.getDimSize(dim);
  }
  if (sum != result.getDimSize(dim)) // (C3)
    return emitOpError("inputs have ")
           << sum << " elements along dim " << dim << ", but the result "
           << result.getDimSize(dim);
  return success();
}

ShardingRule ConcatenateOp::getShardingRule() {
  RankedTensorType result = typeOf(getResult());
  unsigned dim = getDim();
  bool single = getInputs().size() == 1;
  ShardingRule rule = shiftRule(
      result, result, [&](unsigned other) { return single || other != dim; });
  TensorFactors factors = rule.results[0];
  rule.operands.assign(getInputs().size(), factors);
  rule.linearity.assign(getInputs().size(), Linearity::JointlyLinear);
  int64_t offset = 0;
  for (auto [index, value] : llvm::enumerate(getInputs())) {
    if (!single)
      rule.positions.push_back(
          {static_cast<unsigned>(index), 0, dim, 1, -offset, 1, 1});
    offset += typeOf(value).getDimSize(dim);
  }
  return rule;
}
