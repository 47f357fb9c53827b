//===- GradientsOfScan.cpp - derivatives of cumulative ops and orders -----===//

#include "weft/dialects/weft/gradients/GradientBuilder.h"
#include "weft/dialects/weft/ops/ScanOps.h"

using namespace mlir;

namespace weft {

namespace {

/// One cumulative op y = c(x) and the gradient of y.
struct ScanGradient {
  mutable CumulativeOp op; // Getters of ops are not const.
  const GradientBuilder &g;
  Tensor x, y, grad, zero, one;

  ScanGradient(CumulativeOp op,
               const GradientBuilder &g [[clang::lifetimebound]], Value grad)
      : op(op), g(g), x(g(op.getInput())), y(g(op.getResult())), grad(g(grad)),
        zero(this->grad.number(0)), one(this->grad.number(1)) {}

  Tensor along(ScanKind kind, Tensor value, bool reverse,
               bool exclusive) const {
    return g.make<CumulativeOp>(kind, value, op.getDim(), reverse, exclusive);
  }
  /// The scan of all elements that contributed to a result: the opposite
  /// direction.
  Tensor back(ScanKind kind, Tensor value) const {
    return along(kind, value, !op.getReverse(), op.getExclusive());
  }
  Tensor ofProducts() const;
  Tensor ofLargest() const;
  Tensor ofLogSumExp() const;
};

} // namespace

// The gradient of a cumulative product: dy_j/dx_i is y_j / x_i. After the first
// 0 every y is 0, so an x before it affects y up to there only; for the 0
// itself, products without it are used.
Tensor ScanGradient::ofProducts() const {
  Tensor isZero = x == zero;
  Tensor upToHere = along(ScanKind::Sum, select(isZero, one, zero),
                          op.getReverse(), /*exclusive=*/false);
  Tensor isBefore = upToHere == zero;
  Tensor isFirst = isZero & (upToHere == one);
  Tensor without = along(ScanKind::Prod, select(isFirst, one, x),
                         op.getReverse(), op.getExclusive());
  Tensor before = back(ScanKind::Sum, grad * y) / select(isZero, one, x);
  Tensor first = back(ScanKind::Sum, grad * without);
  return select(isBefore, before, select(isFirst, first, zero));
}

// The gradient of a cumulative max or min: each new maximum (minimum) is the
// result until the next one; its gradient sums that range.
Tensor ScanGradient::ofLargest() const {
  Type i32 = g.builder.getI32Type();
  ArrayRef<int64_t> shape = shapeOf(x);
  bool reverse = op.getReverse();
  Tensor before = along(op.getKind(), x, reverse, /*exclusive=*/true);
  Tensor isNew = op.getKind() == ScanKind::Max ? x > before : x < before;
  Tensor positions = g.count(op.getDim(), shape, i32);
  int64_t none = reverse ? shape[op.getDim()] : -1;
  Tensor marked = select(isNew, positions, g.integers(none, shape, i32));
  Tensor from = along(reverse ? ScanKind::Min : ScanKind::Max, marked, reverse,
                      op.getExclusive());
  return g.putAlong(grad, from, op.getDim(), x);
}

// The sum over j of grad_j e^(x_i - y_j), for positive and negative grad
// separately, so that it is computed in logarithms, too.
Tensor ScanGradient::ofLogSumExp() const {
  auto contribution = [&](Tensor size) {
    return exp(x + back(ScanKind::LogSumExp, log(size) - y));
  };
  return contribution(max(grad, zero)) - contribution(max(-grad, zero));
}

LogicalResult CumulativeOp::buildGradient(OpGradients &g) {
  ScanGradient gradient(*this, g, g.results[0]);
  switch (getKind()) {
  case ScanKind::Sum:
    g.operands[0] = gradient.back(ScanKind::Sum, gradient.grad);
    break;
  case ScanKind::Prod:
    g.operands[0] = gradient.ofProducts();
    break;
  case ScanKind::Max:
  case ScanKind::Min:
    g.operands[0] = gradient.ofLargest();
    break;
  case ScanKind::LogSumExp:
    g.operands[0] = gradient.ofLogSumExp();
    break;
  }
  return success();
}

LogicalResult TopKOp::buildGradient(OpGradients &g) {
  g.operands[0] =
      g.putAlong(g.results[0], getPositions(), getDim(), getInput());
  return success();
}

// The gradient of a sort: positions are sorted as well, and each gradient is
// moved back to its element's position.
LogicalResult SortOp::buildGradient(OpGradients &g) {
  Value positions;
  for (unsigned i = 0; i < g.operands.size(); ++i) {
    if (!g.wanted[i] || !g.results[i])
      continue;
    if (!positions) {
      SmallVector<Value> inputs(getInputs().take_front(getKeys()));
      inputs.push_back(
          g.count(getDim(), shapeOf(inputs[0]), g.builder.getI32Type()));
      SmallVector<Type> types(ValueRange(inputs).getTypes());
      positions = SortOp::create(g.builder, getLoc(), types, inputs, getDim(),
                                 getKeys(), getDescending())
                      .getResults()
                      .back();
    }
    g.operands[i] =
        g.putAlong(g.results[i], positions, getDim(), getInputs()[i]);
  }
  return success();
}

} // namespace weft
