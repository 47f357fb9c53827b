//===- Gradients.cpp - derivatives of elementwise ops ---------------------===//
//
// Where functions have no derivative, JAX's conventions hold: relu' is 0 at 0,
// max and min give each side half of a tie's gradient, |x|' is 1 at 0. A
// gradient for complex x is the gradient of a function of x alone, never
// conjugated: x^2 gives 2 x grad.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/gradients/GradientBuilder.h"

#include <cmath>

using namespace mlir;

namespace weft {

Value GradientBuilder::splat(double value, Value like) const {
  return ConstantOp::create(
      builder, loc, splatData(value, cast<RankedTensorType>(like.getType())));
}

Value GradientBuilder::compare(CompareKind kind, Value lhs, Value rhs) const {
  return CompareOp::create(builder, loc, kind, lhs, rhs);
}

Value GradientBuilder::converted(Value x, Type elementType) const {
  return getElementTypeOrSelf(x) == elementType
             ? x
             : ConvertOp::create(builder, loc, x, elementType).getResult();
}

Value GradientBuilder::conj(Value x) const {
  if (!isa<ComplexType>(getElementTypeOrSelf(x)))
    return x;
  return ConjOp::create(builder, loc, x);
}

Value GradientBuilder::select(Value condition, Value onTrue,
                              Value onFalse) const {
  return SelectOp::create(builder, loc, condition, onTrue, onFalse);
}

namespace {

/// The gradient of an operand from the gradient `grad` of the result, the
/// operand and the result.
using UnaryRule = llvm::function_ref<Value(const GradientBuilder &, Value grad,
                                           Value x, Value result)>;

LogicalResult unaryGradient(Operation *op, OpBuilder &builder,
                            ValueRange resultGradients, ArrayRef<bool> wanted,
                            SmallVectorImpl<Value> &operandGradients,
                            UnaryRule rule) {
  operandGradients.assign(1, Value());
  if (!wanted[0] || !resultGradients[0])
    return success();
  GradientBuilder g{builder, op->getLoc()};
  operandGradients[0] =
      rule(g, resultGradients[0], op->getOperand(0), op->getResult(0));
  return success();
}

/// The rule of one operand, called only if its gradient is wanted.
using OperandRule =
    llvm::function_ref<Value(const GradientBuilder &, Value grad)>;

LogicalResult binaryGradient(Operation *op, OpBuilder &builder,
                             ValueRange resultGradients, ArrayRef<bool> wanted,
                             SmallVectorImpl<Value> &operandGradients,
                             OperandRule lhsRule, OperandRule rhsRule) {
  operandGradients.assign(2, Value());
  if (!resultGradients[0])
    return success();
  GradientBuilder g{builder, op->getLoc()};
  if (wanted[0])
    operandGradients[0] = lhsRule(g, resultGradients[0]);
  if (wanted[1])
    operandGradients[1] = rhsRule(g, resultGradients[0]);
  return success();
}

/// The gradient of max and min: the whole gradient if `x` is the result, half
/// of it for a tie.
Value tieHalf(const GradientBuilder &g, Value grad, Value x, Value y,
              Value result) {
  Value one = g.splat(1, grad), half = g.splat(0.5, grad);
  Value share = g.select(g.compare(CompareKind::EQ, y, result), half, one);
  Value factor =
      g.select(g.compare(CompareKind::EQ, x, result), share, g.splat(0, grad));
  return g.mul(grad, factor);
}

Value squares(const GradientBuilder &g, Value x, Value y) {
  return g.add(g.mul(x, x), g.mul(y, y));
}

/// x / y rounded towards 0.
Value truncatedQuotient(const GradientBuilder &g, Value x, Value y) {
  Value quotient = g.div(x, y);
  Value size = AbsOp::create(g.builder, g.loc, quotient);
  return g.mul(SignOp::create(g.builder, g.loc, quotient),
               FloorOp::create(g.builder, g.loc, size));
}

/// `x`, with 1 instead of 0.
Value oneForZero(const GradientBuilder &g, Value x) {
  return g.select(g.compare(CompareKind::EQ, x, g.splat(0, x)), g.splat(1, x),
                  x);
}

/// The derivative of |x| times `grad`: 1 or -1, and 1 if x is 0; of complex
/// numbers conj(x) / |x|, and 0 if x is 0.
Value absGradient(const GradientBuilder &g, Value grad, Value x, Value size) {
  if (!isa<ComplexType>(getElementTypeOrSelf(x)))
    return g.select(g.compare(CompareKind::GE, x, g.splat(0, x)), grad,
                    g.neg(grad));
  Value scale = g.div(grad, oneForZero(g, size));
  return g.complex(g.mul(scale, g.real(x)), g.neg(g.mul(scale, g.imag(x))));
}

} // namespace

// One line for each op of one operand: `grad`, `x` and `y` = op(x).
#define WEFT_UNARY_GRADIENT(Op, rule)                                          \
  LogicalResult Op::buildGradient(                                             \
      OpBuilder &builder, ValueRange resultGradients, ArrayRef<bool> wanted,   \
      SmallVectorImpl<Value> &operandGradients) {                              \
    return unaryGradient(*this, builder, resultGradients, wanted,              \
                         operandGradients,                                     \
                         [](const GradientBuilder &g, Value grad, Value x,     \
                            Value y) -> Value { return rule; });               \
  }

WEFT_UNARY_GRADIENT(NegOp, g.neg(grad))
WEFT_UNARY_GRADIENT(AbsOp, absGradient(g, grad, x, y))
WEFT_UNARY_GRADIENT(RealOp, g.complex(grad, g.splat(0, grad)))
WEFT_UNARY_GRADIENT(ImagOp, g.complex(g.splat(0, grad), g.neg(grad)))
WEFT_UNARY_GRADIENT(ConjOp, ConjOp::create(g.builder, g.loc, grad))
WEFT_UNARY_GRADIENT(SignOp, Value())
WEFT_UNARY_GRADIENT(ExpOp, g.mul(grad, y))
WEFT_UNARY_GRADIENT(Expm1Op, g.mul(grad, g.add(y, g.splat(1, y))))
WEFT_UNARY_GRADIENT(LogOp, g.div(grad, x))
WEFT_UNARY_GRADIENT(Log1pOp, g.div(grad, g.add(x, g.splat(1, x))))
WEFT_UNARY_GRADIENT(SqrtOp, g.div(g.scale(0.5, grad), y))
WEFT_UNARY_GRADIENT(RsqrtOp, g.mul(grad, g.div(g.scale(-0.5, y), x)))
WEFT_UNARY_GRADIENT(TanhOp, g.mul(grad, g.sub(g.splat(1, y), g.mul(y, y))))
WEFT_UNARY_GRADIENT(LogisticOp, g.mul(grad, g.mul(y, g.sub(g.splat(1, y), y))))
// erf'(x) = 2 / sqrt(pi) * e^(-x^2)
WEFT_UNARY_GRADIENT(ErfOp,
                    g.mul(g.scale(2 / std::sqrt(M_PI), grad),
                          ExpOp::create(g.builder, g.loc, g.neg(g.mul(x, x)))))
WEFT_UNARY_GRADIENT(ErfcOp,
                    g.mul(g.scale(-2 / std::sqrt(M_PI), grad),
                          ExpOp::create(g.builder, g.loc, g.neg(g.mul(x, x)))))
WEFT_UNARY_GRADIENT(FloorOp, Value())
WEFT_UNARY_GRADIENT(CeilOp, Value())
WEFT_UNARY_GRADIENT(StopGradientOp, Value())
WEFT_UNARY_GRADIENT(RoundOp, Value())
WEFT_UNARY_GRADIENT(RoundEvenOp, Value())
WEFT_UNARY_GRADIENT(CbrtOp, g.mul(grad, g.div(g.scale(1.0 / 3, y), x)))
WEFT_UNARY_GRADIENT(SinOp, g.mul(grad, CosOp::create(g.builder, g.loc, x)))
WEFT_UNARY_GRADIENT(CosOp,
                    g.neg(g.mul(grad, SinOp::create(g.builder, g.loc, x))))
WEFT_UNARY_GRADIENT(TanOp, g.mul(grad, g.add(g.splat(1, y), g.mul(y, y))))
WEFT_UNARY_GRADIENT(ReluOp,
                    g.select(g.compare(CompareKind::GT, x, g.splat(0, x)), grad,
                             g.splat(0, grad)))
#undef WEFT_UNARY_GRADIENT

// One line for each operand: `grad`, `x`, `y` and `z` = op(x, y).
#define WEFT_BINARY_GRADIENT(Op, lhsRule, rhsRule)                             \
  LogicalResult Op::buildGradient(                                             \
      OpBuilder &builder, ValueRange resultGradients, ArrayRef<bool> wanted,   \
      SmallVectorImpl<Value> &operandGradients) {                              \
    [[maybe_unused]] Value x = getOperand(0), y = getOperand(1);               \
    [[maybe_unused]] Value z = getResult();                                    \
    return binaryGradient(                                                     \
        *this, builder, resultGradients, wanted, operandGradients,             \
        [&](const GradientBuilder &g, Value grad) -> Value {                   \
          return lhsRule;                                                      \
        },                                                                     \
        [&](const GradientBuilder &g, Value grad) -> Value {                   \
          return rhsRule;                                                      \
        });                                                                    \
  }

WEFT_BINARY_GRADIENT(AddOp, grad, grad)
WEFT_BINARY_GRADIENT(SubOp, grad, g.neg(grad))
WEFT_BINARY_GRADIENT(ComplexOp, g.real(grad), g.neg(g.imag(grad)))
WEFT_BINARY_GRADIENT(MulOp, g.mul(grad, y), g.mul(grad, x))
WEFT_BINARY_GRADIENT(DivOp, g.div(grad, y),
                     g.neg(g.div(g.mul(grad, x), g.mul(y, y))))
WEFT_BINARY_GRADIENT(MaxOp, tieHalf(g, grad, x, y, z),
                     tieHalf(g, grad, y, x, z))
WEFT_BINARY_GRADIENT(MinOp, tieHalf(g, grad, x, y, z),
                     tieHalf(g, grad, y, x, z))
WEFT_BINARY_GRADIENT(Atan2Op, g.mul(grad, g.div(y, squares(g, x, y))),
                     g.mul(grad, g.neg(g.div(x, squares(g, x, y)))))
// x - y trunc(x / y)
WEFT_BINARY_GRADIENT(RemOp, grad,
                     g.neg(g.mul(grad, truncatedQuotient(g, x, y))))
#undef WEFT_BINARY_GRADIENT

// x^y: y x^(y-1), and 0 if y is 0 (jax.lax.pow with an integer y; with a float
// y it has NaN if x is 0 too); log(x) x^y with log 1 instead of log 0.
LogicalResult PowOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> wanted,
                                   SmallVectorImpl<Value> &operandGradients) {
  Value x = getLhs(), y = getRhs(), z = getResult();
  auto lhsRule = [&](const GradientBuilder &g, Value grad) -> Value {
    Value one = g.splat(1, y), zero = g.splat(0, y);
    Value isZero = g.compare(CompareKind::EQ, y, zero);
    Value exponent = g.select(isZero, one, g.sub(y, one));
    Value power = PowOp::create(g.builder, g.loc, x, exponent);
    return g.mul(grad, g.select(isZero, zero, g.mul(y, power)));
  };
  auto rhsRule = [&](const GradientBuilder &g, Value grad) -> Value {
    Value log = LogOp::create(g.builder, g.loc, oneForZero(g, x));
    return g.mul(grad, g.mul(log, z));
  };
  return binaryGradient(*this, builder, resultGradients, wanted,
                        operandGradients, lhsRule, rhsRule);
}

// Comparisons and ops without a float operand have no gradient.
#define WEFT_NO_GRADIENT(Op)                                                   \
  LogicalResult Op::buildGradient(                                             \
      OpBuilder &builder, ValueRange resultGradients, ArrayRef<bool> wanted,   \
      SmallVectorImpl<Value> &operandGradients) {                              \
    operandGradients.assign((*this)->getNumOperands(), Value());               \
    return success();                                                          \
  }
WEFT_NO_GRADIENT(CompareOp)
WEFT_NO_GRADIENT(IsFiniteOp)
WEFT_NO_GRADIENT(ConstantOp)
WEFT_NO_GRADIENT(IotaOp)
WEFT_NO_GRADIENT(RngBitsOp)
#undef WEFT_NO_GRADIENT

LogicalResult
SelectOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool> wanted,
                        SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(3, Value());
  Value grad = resultGradients[0];
  if (!grad)
    return success();
  GradientBuilder g{builder, getLoc()};
  Value zero = g.splat(0, grad);
  if (wanted[1])
    operandGradients[1] = g.select(getCondition(), grad, zero);
  if (wanted[2])
    operandGradients[2] = g.select(getCondition(), zero, grad);
  return success();
}

LogicalResult ClampOp::buildGradient(OpBuilder &builder,
                                     ValueRange resultGradients,
                                     ArrayRef<bool> wanted,
                                     SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(3, Value());
  Value grad = resultGradients[0];
  if (!grad)
    return success();
  GradientBuilder g{builder, getLoc()};
  Value low = getLow(), x = getInput(), high = getHigh();
  auto greater = [&](Value a, Value b) {
    return g.compare(CompareKind::GT, a, b);
  };
  auto both = [&](Value a, Value b) -> Value {
    return AndOp::create(builder, getLoc(), a, b);
  };
  auto where = [&](Value condition) {
    return g.select(condition, grad, g.splat(0, grad));
  };
  if (wanted[0])
    operandGradients[0] = where(both(greater(low, x), greater(high, low)));
  if (wanted[1])
    operandGradients[1] = where(both(greater(x, low), greater(high, x)));
  if (wanted[2])
    operandGradients[2] = where(greater(x, high));
  return success();
}

LogicalResult
ReducePrecisionOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                                 ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  if (wanted[0] && resultGradients[0])
    operandGradients[0] = ReducePrecisionOp::create(
        builder, getLoc(), resultGradients[0].getType(), resultGradients[0],
        getExponentBitsAttr(), getMantissaBitsAttr());
  return success();
}

LogicalResult
ConvertOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool> wanted,
                         SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  Type from = cast<RankedTensorType>(getInput().getType()).getElementType();
  if (wanted[0] && resultGradients[0] && isDifferentiable(from))
    operandGradients[0] =
        ConvertOp::create(builder, getLoc(), resultGradients[0], from);
  return success();
}

LogicalResult
ConstrainOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                           ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  if (!wanted[0] || !resultGradients[0])
    return success();
  auto likewise =
      ConstrainOp::create(builder, getLoc(), resultGradients[0].getType(),
                          resultGradients[0], getLayoutAttr(), getReasonAttr());
  likewise->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  operandGradients[0] = likewise;
  return success();
}

} // namespace weft
