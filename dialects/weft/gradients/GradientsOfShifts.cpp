//===- GradientsOfShifts.cpp - derivatives of moves along dimensions ------===//

#include "weft/dialects/weft/gradients/GradientBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

/// Whether the gradient of the op's first operand is wanted and not zero.
static bool wantsFirst(Operation *op, ValueRange resultGradients,
                       ArrayRef<bool> wanted,
                       SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(op->getNumOperands(), Value());
  return wanted[0] && resultGradients[0];
}

LogicalResult SliceOp::buildGradient(OpBuilder &builder,
                                     ValueRange resultGradients,
                                     ArrayRef<bool> wanted,
                                     SmallVectorImpl<Value> &operandGradients) {
  if (!wantsFirst(*this, resultGradients, wanted, operandGradients))
    return success();
  ArrayRef<int64_t> from = shapeOf(getInput()), to = shapeOf(getResult());
  SmallVector<int64_t> low(getStart()), high, interior;
  for (auto [dim, size] : llvm::enumerate(to)) {
    // An empty slice does not depend on its input.
    if (size == 0)
      return success();
    int64_t end = getStart()[dim] + (size - 1) * getStride()[dim] + 1;
    high.push_back(from[dim] - end);
    interior.push_back(getStride()[dim] - 1);
  }
  operandGradients[0] =
      PadOp::create(builder, getLoc(), resultGradients[0], low, high, interior);
  return success();
}

LogicalResult
ConcatenateOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                             ArrayRef<bool> wanted,
                             SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign((*this)->getNumOperands(), Value());
  Value grad = resultGradients[0];
  if (!grad)
    return success();
  SmallVector<int64_t> start(shapeOf(grad).size(), 0), limit(shapeOf(grad));
  SmallVector<int64_t> stride(start.size(), 1);
  limit[getDim()] = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    start[getDim()] = limit[getDim()];
    limit[getDim()] += shapeOf(input)[getDim()];
    if (wanted[index])
      operandGradients[index] =
          SliceOp::create(builder, getLoc(), grad, start, limit, stride);
  }
  return success();
}

// The gradient of a pad: elements that were cut off have none; the gradient
// of the padding belongs to the padding value.
LogicalResult PadOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> wanted,
                                   SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign((*this)->getNumOperands(), Value());
  Value grad = resultGradients[0];
  if (!grad)
    return success();
  ArrayRef<int64_t> shape = shapeOf(getInput());
  auto negated = [](ArrayRef<int64_t> amounts) {
    return llvm::map_to_vector(amounts, [](int64_t amount) { return -amount; });
  };
  SmallVector<int64_t> none(shape.size(), 0), stride;
  for (int64_t between : getInterior())
    stride.push_back(between + 1);
  Value inner = PadOp::create(builder, getLoc(), grad, negated(getLow()),
                              negated(getHigh()), none);
  Value input =
      SliceOp::create(builder, getLoc(), inner, none, shapeOf(inner), stride);
  if (wanted[0])
    operandGradients[0] = input;
  if (!getValue() || !wanted[1])
    return success();
  auto sum = [&](Value value) -> Value {
    auto all = otherDims(shapeOf(value).size(), {});
    return ReduceOp::create(builder, getLoc(), ReduceKind::Sum, value, all);
  };
  operandGradients[1] = SubOp::create(builder, getLoc(), sum(grad), sum(input));
  return success();
}

LogicalResult
ReverseOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool> wanted,
                         SmallVectorImpl<Value> &operandGradients) {
  if (wantsFirst(*this, resultGradients, wanted, operandGradients))
    operandGradients[0] =
        ReverseOp::create(builder, getLoc(), resultGradients[0], getDims());
  return success();
}

LogicalResult RollOp::buildGradient(OpBuilder &builder,
                                    ValueRange resultGradients,
                                    ArrayRef<bool> wanted,
                                    SmallVectorImpl<Value> &operandGradients) {
  auto back = llvm::map_to_vector(getShift(), [](int64_t by) { return -by; });
  if (wantsFirst(*this, resultGradients, wanted, operandGradients))
    operandGradients[0] =
        RollOp::create(builder, getLoc(), resultGradients[0], back);
  return success();
}

LogicalResult
DynamicSliceOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                              ArrayRef<bool> wanted,
                              SmallVectorImpl<Value> &operandGradients) {
  if (!wantsFirst(*this, resultGradients, wanted, operandGradients))
    return success();
  GradientBuilder g{builder, getLoc()};
  operandGradients[0] =
      DynamicUpdateSliceOp::create(builder, getLoc(), g(getInput()).number(0),
                                   resultGradients[0], getStarts());
  return success();
}

LogicalResult DynamicUpdateSliceOp::buildGradient(
    OpBuilder &builder, ValueRange resultGradients, ArrayRef<bool> wanted,
    SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign((*this)->getNumOperands(), Value());
  Value grad = resultGradients[0];
  if (!grad)
    return success();
  GradientBuilder g{builder, getLoc()};
  if (wanted[0])
    operandGradients[0] = DynamicUpdateSliceOp::create(
        builder, getLoc(), grad, g(getUpdate()).number(0), getStarts());
  if (wanted[1])
    operandGradients[1] = DynamicSliceOp::create(
        builder, getLoc(), grad, getStarts(), shapeOf(getUpdate()));
  return success();
}

} // namespace weft
