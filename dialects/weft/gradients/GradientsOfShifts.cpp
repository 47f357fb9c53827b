//===- GradientsOfShifts.cpp - derivatives of moves along dimensions ------===//

#include "weft/dialects/weft/gradients/GradientBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

LogicalResult SliceOp::buildGradient(OpGradients &g) {
  if (!g.wanted[0])
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
  g.operands[0] =
      PadOp::create(g.builder, getLoc(), g.results[0], low, high, interior);
  return success();
}

LogicalResult ConcatenateOp::buildGradient(OpGradients &g) {
  Value grad = g.results[0];
  SmallVector<int64_t> start(shapeOf(grad).size(), 0), limit(shapeOf(grad));
  SmallVector<int64_t> stride(start.size(), 1);
  limit[getDim()] = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    start[getDim()] = limit[getDim()];
    limit[getDim()] += shapeOf(input)[getDim()];
    if (g.wanted[index])
      g.operands[index] =
          SliceOp::create(g.builder, getLoc(), grad, start, limit, stride);
  }
  return success();
}

// The gradient of a pad: elements that were cut off have none; the gradient
// of the padding belongs to the padding value.
LogicalResult PadOp::buildGradient(OpGradients &g) {
  Value grad = g.results[0];
  ArrayRef<int64_t> shape = shapeOf(getInput());
  auto negated = [](ArrayRef<int64_t> amounts) {
    return llvm::map_to_vector(amounts, [](int64_t amount) { return -amount; });
  };
  SmallVector<int64_t> none(shape.size(), 0), stride;
  for (int64_t between : getInterior())
    stride.push_back(between + 1);
  Value inner = PadOp::create(g.builder, getLoc(), grad, negated(getLow()),
                              negated(getHigh()), none);
  Value input =
      SliceOp::create(g.builder, getLoc(), inner, none, shapeOf(inner), stride);
  if (g.wanted[0])
    g.operands[0] = input;
  if (!getValue() || !g.wanted[1])
    return success();
  auto sum = [&](Value value) -> Value {
    auto all = otherDims(shapeOf(value).size(), {});
    return ReduceOp::create(g.builder, getLoc(), ReduceKind::Sum, value, all);
  };
  g.operands[1] = SubOp::create(g.builder, getLoc(), sum(grad), sum(input));
  return success();
}

LogicalResult ReverseOp::buildGradient(OpGradients &g) {
  g.operands[0] =
      ReverseOp::create(g.builder, getLoc(), g.results[0], getDims());
  return success();
}

LogicalResult RollOp::buildGradient(OpGradients &g) {
  auto back = llvm::map_to_vector(getShift(), [](int64_t by) { return -by; });
  g.operands[0] = RollOp::create(g.builder, getLoc(), g.results[0], back);
  return success();
}

LogicalResult DynamicSliceOp::buildGradient(OpGradients &g) {
  if (!g.wanted[0])
    return success();
  g.operands[0] = DynamicUpdateSliceOp::create(
      g.builder, getLoc(), g(getInput()).number(0), g.results[0], getStarts());
  return success();
}

LogicalResult DynamicUpdateSliceOp::buildGradient(OpGradients &g) {
  Value grad = g.results[0];
  if (g.wanted[0])
    g.operands[0] = DynamicUpdateSliceOp::create(
        g.builder, getLoc(), grad, g(getUpdate()).number(0), getStarts());
  if (g.wanted[1])
    g.operands[1] = DynamicSliceOp::create(g.builder, getLoc(), grad,
                                           getStarts(), shapeOf(getUpdate()));
  return success();
}

} // namespace weft
