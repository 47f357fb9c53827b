//===- Shape.cpp - ops that move elements ---------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace weft;

/// Folds to a splat of the result's shape if the input is a splat. The data
/// never has a layout, so none is lost.
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
  // A reshape of a reshape is one reshape, if none of their types has a layout.
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
