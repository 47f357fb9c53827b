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
#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/dialects/weft/ops/ScanOps.h"

#include <cmath>

using namespace mlir;

namespace weft {

namespace {

/// The gradient of an operand of z = op(x, y), called only if it is wanted.
using OperandRule =
    llvm::function_ref<Tensor(Tensor grad, Tensor x, Tensor y, Tensor z)>;

LogicalResult binaryGradient(Operation *op, OpGradients &g, OperandRule lhsRule,
                             OperandRule rhsRule) {
  Tensor grad = g.grad(), z = g(op->getResult(0));
  Tensor x = g(op->getOperand(0)), y = g(op->getOperand(1));
  if (g.wanted[0])
    g.operands[0] = lhsRule(grad, x, y, z);
  if (g.wanted[1])
    g.operands[1] = rhsRule(grad, x, y, z);
  return success();
}

/// The gradient of max and min: the whole gradient if `x` is the result, half
/// of it for a tie.
Tensor tieHalf(Tensor grad, Tensor x, Tensor y, Tensor result) {
  Tensor one = grad.number(1), half = grad.number(0.5);
  Tensor share = select(y == result, half, one);
  return grad * select(x == result, share, grad.number(0));
}

Tensor squares(Tensor x, Tensor y) { return x * x + y * y; }

/// x / y rounded towards 0.
Tensor truncatedQuotient(Tensor x, Tensor y) {
  Tensor quotient = x / y, size = abs(quotient);
  return sign(quotient) * floor(size);
}

/// `x`, with 1 instead of 0.
Tensor oneForZero(Tensor x) { return select(x == 0, x.number(1), x); }

/// The derivative of |x| times `grad`: 1 or -1, and 1 if x is 0; of complex
/// numbers conj(x) / |x|, and 0 if x is 0.
Tensor absGradient(Tensor grad, Tensor x, Tensor size) {
  if (!isa<ComplexType>(x.elementType()))
    return select(x >= 0, grad, -grad);
  Tensor scale = grad / oneForZero(size);
  return complex(scale * real(x), -(scale * imag(x)));
}

} // namespace

// One line for each op of one operand: `grad`, `x` and `y` = op(x).
#define WEFT_UNARY_GRADIENT(Op, rule)                                          \
  LogicalResult Op::buildGradient(OpGradients &g) {                            \
    auto ofOperand = [](Tensor grad, Tensor x, Tensor y) -> Tensor {           \
      return rule;                                                             \
    };                                                                         \
    g.operands[0] = ofOperand(g.grad(), g((*this)->getOperand(0)),             \
                              g((*this)->getResult(0)));                       \
    return success();                                                          \
  }

// clang-format off: it takes the products for pointers.
WEFT_UNARY_GRADIENT(NegOp, -grad)
WEFT_UNARY_GRADIENT(AbsOp, absGradient(grad, x, y))
WEFT_UNARY_GRADIENT(RealOp, complex(grad, grad.number(0)))
WEFT_UNARY_GRADIENT(ImagOp, complex(grad.number(0), -grad))
WEFT_UNARY_GRADIENT(ConjOp, conj(grad))
WEFT_UNARY_GRADIENT(SignOp, Tensor())
WEFT_UNARY_GRADIENT(ExpOp, grad * y)
WEFT_UNARY_GRADIENT(Expm1Op, grad * (y + 1))
WEFT_UNARY_GRADIENT(LogOp, grad / x)
WEFT_UNARY_GRADIENT(Log1pOp, grad / (x + 1))
WEFT_UNARY_GRADIENT(SqrtOp, grad * 0.5 / y)
WEFT_UNARY_GRADIENT(RsqrtOp, grad * (y * -0.5 / x))
WEFT_UNARY_GRADIENT(TanhOp, grad * (1 - y * y))
WEFT_UNARY_GRADIENT(LogisticOp, grad * (y * (1 - y)))
// erf'(x) = 2 / sqrt(pi) * e^(-x^2)
WEFT_UNARY_GRADIENT(ErfOp, grad * (2 / std::sqrt(M_PI)) * exp(-(x * x)))
WEFT_UNARY_GRADIENT(ErfcOp, grad * (-2 / std::sqrt(M_PI)) * exp(-(x * x)))
WEFT_UNARY_GRADIENT(FloorOp, Tensor())
WEFT_UNARY_GRADIENT(CeilOp, Tensor())
WEFT_UNARY_GRADIENT(StopGradientOp, Tensor())
WEFT_UNARY_GRADIENT(RoundOp, Tensor())
WEFT_UNARY_GRADIENT(RoundEvenOp, Tensor())
WEFT_UNARY_GRADIENT(CbrtOp, grad * (y * (1.0 / 3) / x))
WEFT_UNARY_GRADIENT(SinOp, grad * cos(x))
WEFT_UNARY_GRADIENT(CosOp, -(grad * sin(x)))
WEFT_UNARY_GRADIENT(TanOp, grad * (1 + y * y))
WEFT_UNARY_GRADIENT(ReluOp, select(x > 0, grad, 0))
// clang-format on
#undef WEFT_UNARY_GRADIENT

// One line for each op of two operands: `grad`, `x`, `y` and `z` = op(x, y).
#define WEFT_BINARY_GRADIENT(Op, lhsRule, rhsRule)                             \
  LogicalResult Op::buildGradient(OpGradients &g) {                            \
    return binaryGradient(                                                     \
        *this, g,                                                              \
        [](Tensor grad, Tensor x, Tensor y, Tensor z) -> Tensor {              \
          return lhsRule;                                                      \
        },                                                                     \
        [](Tensor grad, Tensor x, Tensor y, Tensor z) -> Tensor {              \
          return rhsRule;                                                      \
        });                                                                    \
  }

// clang-format off: it takes the products for pointers.
WEFT_BINARY_GRADIENT(AddOp, grad, grad)
WEFT_BINARY_GRADIENT(SubOp, grad, -grad)
WEFT_BINARY_GRADIENT(ComplexOp, real(grad), -imag(grad))
WEFT_BINARY_GRADIENT(MulOp, grad * y, grad * x)
WEFT_BINARY_GRADIENT(DivOp, grad / y, -(grad * x / (y * y)))
WEFT_BINARY_GRADIENT(MaxOp, tieHalf(grad, x, y, z), tieHalf(grad, y, x, z))
WEFT_BINARY_GRADIENT(MinOp, tieHalf(grad, x, y, z), tieHalf(grad, y, x, z))
WEFT_BINARY_GRADIENT(Atan2Op, grad * (y / squares(x, y)),
                     grad * -(x / squares(x, y)))
// x - y trunc(x / y)
WEFT_BINARY_GRADIENT(RemOp, grad, -(grad * truncatedQuotient(x, y)))
// clang-format on
#undef WEFT_BINARY_GRADIENT

// x^y: y x^(y-1), and 0 if y is 0 (jax.lax.pow with an integer y; with a float
// y it has NaN if x is 0 too); log(x) x^y with log 1 instead of log 0.
LogicalResult PowOp::buildGradient(OpGradients &g) {
  auto lhsRule = [](Tensor grad, Tensor x, Tensor y, Tensor z) -> Tensor {
    Tensor one = y.number(1), zero = y.number(0), isZero = y == zero;
    Tensor power = pow(x, select(isZero, one, y - one));
    return grad * select(isZero, zero, y * power);
  };
  auto rhsRule = [](Tensor grad, Tensor x, Tensor y, Tensor z) -> Tensor {
    return grad * (log(oneForZero(x)) * z);
  };
  return binaryGradient(*this, g, lhsRule, rhsRule);
}

// Comparisons and ops without a float operand have no gradient.
#define WEFT_NO_GRADIENT(Op)                                                   \
  LogicalResult Op::buildGradient(OpGradients &) { return success(); }
WEFT_NO_GRADIENT(CompareOp)
WEFT_NO_GRADIENT(IsFiniteOp)
WEFT_NO_GRADIENT(ConstantOp)
WEFT_NO_GRADIENT(IotaOp)
WEFT_NO_GRADIENT(RngBitsOp)
WEFT_NO_GRADIENT(ArgMaxOp)
WEFT_NO_GRADIENT(ArgMinOp)
WEFT_NO_GRADIENT(OneHotOp)
#undef WEFT_NO_GRADIENT

LogicalResult SelectOp::buildGradient(OpGradients &g) {
  Tensor grad = g.grad(), zero = grad.number(0);
  if (g.wanted[1])
    g.operands[1] = select(g(getCondition()), grad, zero);
  if (g.wanted[2])
    g.operands[2] = select(g(getCondition()), zero, grad);
  return success();
}

LogicalResult ClampOp::buildGradient(OpGradients &g) {
  Tensor grad = g.grad();
  Tensor low = g(getLow()), x = g(getInput()), high = g(getHigh());
  if (g.wanted[0])
    g.operands[0] = select((low > x) & (high > low), grad, 0);
  if (g.wanted[1])
    g.operands[1] = select((x > low) & (high > x), grad, 0);
  if (g.wanted[2])
    g.operands[2] = select(x > high, grad, 0);
  return success();
}

LogicalResult ReducePrecisionOp::buildGradient(OpGradients &g) {
  g.operands[0] = ReducePrecisionOp::create(
      g.builder, getLoc(), g.results[0].getType(), g.results[0],
      getExponentBitsAttr(), getMantissaBitsAttr());
  return success();
}

LogicalResult ConvertOp::buildGradient(OpGradients &g) {
  Type from = cast<RankedTensorType>(getInput().getType()).getElementType();
  if (isDifferentiable(from))
    g.operands[0] = ConvertOp::create(g.builder, getLoc(), g.results[0], from);
  return success();
}

LogicalResult ConstrainOp::buildGradient(OpGradients &g) {
  auto likewise =
      ConstrainOp::create(g.builder, getLoc(), g.results[0].getType(),
                          g.results[0], getLayoutAttr(), getReasonAttr());
  likewise->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  g.operands[0] = likewise;
  return success();
}

} // namespace weft
