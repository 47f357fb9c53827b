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
  Value x, y, grad;
  Value zero, one;

  ScanGradient(CumulativeOp op,
               const GradientBuilder &g [[clang::lifetimebound]], Value grad)
      : op(op), g(g), x(op.getInput()), y(op.getResult()), grad(grad),
        zero(g.splat(0, grad)), one(g.splat(1, grad)) {}

  Value along(ScanKind kind, Value value, bool reverse, bool exclusive) const {
    return CumulativeOp::create(g.builder, g.loc, kind, value, op.getDim(),
                                reverse, exclusive);
  }
  /// The scan of all elements that contributed to a result: the opposite
  /// direction.
  Value back(ScanKind kind, Value value) const {
    return along(kind, value, !op.getReverse(), op.getExclusive());
  }
  Value equal(Value a, Value b) const {
    return g.compare(CompareKind::EQ, a, b);
  }
  Value ofProducts() const;
  Value ofLargest() const;
  Value ofLogSumExp() const;
};

} // namespace

// The gradient of a cumulative product: dy_j/dx_i is y_j / x_i. After the first
// 0 every y is 0, so an x before it affects y up to there only; for the 0
// itself, products without it are used.
Value ScanGradient::ofProducts() const {
  Value isZero = equal(x, zero);
  Value upToHere = along(ScanKind::Sum, g.select(isZero, one, zero),
                         op.getReverse(), /*exclusive=*/false);
  Value isBefore = equal(upToHere, zero);
  Value isFirst = AndOp::create(g.builder, g.loc, isZero, equal(upToHere, one));
  Value without = along(ScanKind::Prod, g.select(isFirst, one, x),
                        op.getReverse(), op.getExclusive());
  Value before =
      g.div(back(ScanKind::Sum, g.mul(grad, y)), g.select(isZero, one, x));
  Value first = back(ScanKind::Sum, g.mul(grad, without));
  return g.select(isBefore, before, g.select(isFirst, first, zero));
}

// The gradient of a cumulative max or min: each new maximum (minimum) is the
// result until the next one; its gradient sums that range.
Value ScanGradient::ofLargest() const {
  Type i32 = g.builder.getI32Type();
  ArrayRef<int64_t> shape = shapeOf(x);
  bool reverse = op.getReverse();
  Value before = along(op.getKind(), x, reverse, /*exclusive=*/true);
  Value isNew = g.compare(op.getKind() == ScanKind::Max ? CompareKind::GT
                                                        : CompareKind::LT,
                          x, before);
  Value positions = g.count(op.getDim(), shape, i32);
  int64_t none = reverse ? shape[op.getDim()] : -1;
  Value marked = g.select(isNew, positions, g.integers(none, shape, i32));
  Value from = along(reverse ? ScanKind::Min : ScanKind::Max, marked, reverse,
                     op.getExclusive());
  return g.putAlong(grad, from, op.getDim(), x);
}

// The sum over j of grad_j e^(x_i - y_j), for positive and negative grad
// separately, so that it is computed in logarithms, too.
Value ScanGradient::ofLogSumExp() const {
  auto contribution = [&](Value size) -> Value {
    Value log = LogOp::create(g.builder, g.loc, size);
    Value sum = back(ScanKind::LogSumExp, g.sub(log, y));
    return ExpOp::create(g.builder, g.loc, g.add(x, sum));
  };
  return g.sub(
      contribution(MaxOp::create(g.builder, g.loc, grad, zero)),
      contribution(MaxOp::create(g.builder, g.loc, g.neg(grad), zero)));
}

LogicalResult
CumulativeOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                            ArrayRef<bool> wanted,
                            SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  if (!wanted[0] || !resultGradients[0])
    return success();
  GradientBuilder g{builder, getLoc()};
  ScanGradient gradient(*this, g, resultGradients[0]);
  switch (getKind()) {
  case ScanKind::Sum:
    operandGradients[0] = gradient.back(ScanKind::Sum, gradient.grad);
    break;
  case ScanKind::Prod:
    operandGradients[0] = gradient.ofProducts();
    break;
  case ScanKind::Max:
  case ScanKind::Min:
    operandGradients[0] = gradient.ofLargest();
    break;
  case ScanKind::LogSumExp:
    operandGradients[0] = gradient.ofLogSumExp();
    break;
  }
  return success();
}

LogicalResult
ArgMaxOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool> wanted,
                        SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  return success();
}

LogicalResult
ArgMinOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool> wanted,
                        SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  return success();
}

LogicalResult TopKOp::buildGradient(OpBuilder &builder,
                                    ValueRange resultGradients,
                                    ArrayRef<bool> wanted,
                                    SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  if (!wanted[0] || !resultGradients[0])
    return success();
  GradientBuilder g{builder, getLoc()};
  operandGradients[0] =
      g.putAlong(resultGradients[0], getPositions(), getDim(), getInput());
  return success();
}

// The gradient of a sort: positions are sorted as well, and each gradient is
// moved back to its element's position.
LogicalResult SortOp::buildGradient(OpBuilder &builder,
                                    ValueRange resultGradients,
                                    ArrayRef<bool> wanted,
                                    SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign((*this)->getNumOperands(), Value());
  GradientBuilder g{builder, getLoc()};
  Value positions;
  for (unsigned i = 0; i < operandGradients.size(); ++i) {
    if (!wanted[i] || !resultGradients[i])
      continue;
    if (!positions) {
      SmallVector<Value> inputs(getInputs().take_front(getKeys()));
      inputs.push_back(
          g.count(getDim(), shapeOf(inputs[0]), builder.getI32Type()));
      SmallVector<Type> types(ValueRange(inputs).getTypes());
      positions = SortOp::create(builder, getLoc(), types, inputs, getDim(),
                                 getKeys(), getDescending())
                      .getResults()
                      .back();
    }
    operandGradients[i] =
        g.putAlong(resultGradients[i], positions, getDim(), getInputs()[i]);
  }
  return success();
}

} // namespace weft
