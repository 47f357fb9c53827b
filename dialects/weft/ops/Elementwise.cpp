//===- Elementwise.cpp - rules, checks and folds of elementwise ops -------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The elementwise rule: all operands share the result's factors.
static ShardingRule ruleOf(Operation *op, ArrayRef<Linearity> linearity = {}) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  SmallVector<int64_t> ranks(op->getNumOperands(), shape.size());
  ShardingRule rule = elementwiseRule(shape, ranks, 1);
  rule.linearity.assign(linearity.begin(), linearity.end());
  return rule;
}

#define WEFT_RULE(OP, ...)                                                     \
  ShardingRule OP::getShardingRule() { return ruleOf(*this, {__VA_ARGS__}); }

// Linearity of ops. Rising and Falling are given only if they hold for every
// value: integers overflow, an approximation may round the wrong way, and the
// neutral element of an empty shard, -inf, makes NaN with +inf.
constexpr Linearity none = Linearity::None, linear = Linearity::Linear,
                    joint = Linearity::JointlyLinear,
                    rising = Linearity::Rising, falling = Linearity::Falling,
                    moving = Linearity::Moving;

WEFT_RULE(AbsOp)
WEFT_RULE(RealOp, linear)
WEFT_RULE(ImagOp, linear)
WEFT_RULE(ConjOp, linear)
WEFT_RULE(ComplexOp, joint, joint)
WEFT_RULE(SignOp)
WEFT_RULE(ExpOp)
WEFT_RULE(Expm1Op)
WEFT_RULE(LogOp)
WEFT_RULE(Log1pOp)
WEFT_RULE(SqrtOp)
WEFT_RULE(RsqrtOp)
WEFT_RULE(TanhOp)
WEFT_RULE(LogisticOp)
WEFT_RULE(ErfOp)
WEFT_RULE(ErfcOp)
WEFT_RULE(FloorOp, rising)
WEFT_RULE(CeilOp, rising)
WEFT_RULE(RoundOp, rising)
WEFT_RULE(RoundEvenOp, rising)
WEFT_RULE(CbrtOp)
WEFT_RULE(SinOp)
WEFT_RULE(CosOp)
WEFT_RULE(TanOp)
WEFT_RULE(IsFiniteOp)
WEFT_RULE(PopulationCountOp)
WEFT_RULE(CountLeadingZerosOp)
WEFT_RULE(ReducePrecisionOp)
WEFT_RULE(ReluOp, rising)
WEFT_RULE(StopGradientOp, moving)
WEFT_RULE(NotOp)
WEFT_RULE(AddOp, joint, joint)
WEFT_RULE(SubOp, joint, joint)
WEFT_RULE(MulOp, linear, linear)
WEFT_RULE(MaxOp, rising, rising)
WEFT_RULE(MinOp, rising, rising)
WEFT_RULE(PowOp)
WEFT_RULE(RemOp)
WEFT_RULE(AndOp)
WEFT_RULE(OrOp)
WEFT_RULE(XorOp)
WEFT_RULE(ShiftLeftOp)
WEFT_RULE(ShiftRightLogicalOp)
WEFT_RULE(ShiftRightArithmeticOp)
WEFT_RULE(Atan2Op)
WEFT_RULE(ClampOp)
WEFT_RULE(CompareOp)
WEFT_RULE(SelectOp, none, joint, joint)
WEFT_RULE(BitcastOp)
WEFT_RULE(ConstrainOp, moving)

ShardingRule NegOp::getShardingRule() {
  // Integers are excluded: the least integer is its own negative.
  bool real = isa<FloatType>(getElementTypeOrSelf(getResult()));
  return ruleOf(*this, {real ? linear | falling : linear});
}

ShardingRule DivOp::getShardingRule() {
  // Integer division truncates, so a sum of quotients is no quotient of sums.
  if (!isDifferentiable(getElementTypeOrSelf(getResult())))
    return ruleOf(*this);
  return ruleOf(*this, {linear, none});
}

ShardingRule ConvertOp::getShardingRule() {
  // A conversion that rounds would round summands before they are summed; it
  // keeps their order.
  auto from = dyn_cast<FloatType>(getElementTypeOrSelf(getInput()));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(getResult()));
  if (!from || !to)
    return ruleOf(*this);
  return ruleOf(*this, {isExactIn(from, to) ? linear | rising : rising});
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

static RankedTensorType withElements(Value value, Type elementType) {
  return cast<RankedTensorType>(value.getType()).clone(elementType);
}

void CompareOp::build(OpBuilder &builder, OperationState &state,
                      CompareKind kind, Value lhs, Value rhs) {
  build(builder, state, withElements(lhs, builder.getI1Type()), kind, lhs, rhs);
}

void SelectOp::build(OpBuilder &builder, OperationState &state, Value condition,
                     Value onTrue, Value onFalse) {
  build(builder, state, onTrue.getType(), condition, onTrue, onFalse);
}

static RankedTensorType componentTensor(Value value) {
  return withElements(value, componentType(getElementTypeOrSelf(value)));
}

void AbsOp::build(OpBuilder &builder, OperationState &state, Value input) {
  build(builder, state, componentTensor(input), input);
}

void RealOp::build(OpBuilder &builder, OperationState &state, Value input) {
  build(builder, state, componentTensor(input), input);
}

void ImagOp::build(OpBuilder &builder, OperationState &state, Value input) {
  build(builder, state, componentTensor(input), input);
}

void ComplexOp::build(OpBuilder &builder, OperationState &state, Value real,
                      Value imag) {
  Type elements = ComplexType::get(getElementTypeOrSelf(real));
  build(builder, state, withElements(real, elements), real, imag);
}

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value input,
                      Type elementType) {
  build(builder, state, withElements(input, elementType), input);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult CompareOp::verify() {
  Type elements = getElementTypeOrSelf(getResult());
  if (!elements.isInteger(1)) // (C1)
    return emitOpError("a comparison has elements of i1, not ") << elements;
  bool isOrder = getKind() != CompareKind::EQ && getKind() != CompareKind::NE;
  if (isOrder && isa<ComplexType>(getElementTypeOrSelf(getLhs()))) // (C2)
    return emitOpError("complex numbers have no order; compare them by eq or "
                       "ne, not by ")
           << stringifyCompareKind(getKind());
  return success();
}

/// (C1)
static LogicalResult checkComponents(Operation *op, Type complex,
                                     Type component) {
  if (componentType(complex) == component)
    return success();
  return op->emitOpError("parts of ")
         << complex << " are " << componentType(complex) << ", not "
         << component;
}

static LogicalResult checkComplex(Operation *op, Type complex, Type component) {
  if (isa<ComplexType>(complex))
    return checkComponents(op, complex, component);
  return op->emitOpError("only complex numbers have parts, not ") << complex;
}

LogicalResult AbsOp::verify() { // (C1)
  return checkComponents(*this, getElementTypeOrSelf(getInput()),
                         getElementTypeOrSelf(getResult()));
}
LogicalResult RealOp::verify() { // (C1)
  return checkComplex(*this, getElementTypeOrSelf(getInput()),
                      getElementTypeOrSelf(getResult()));
}
LogicalResult ImagOp::verify() { // (C1)
  return checkComplex(*this, getElementTypeOrSelf(getInput()),
                      getElementTypeOrSelf(getResult()));
}
LogicalResult ComplexOp::verify() { // (C1)
  return checkComplex(*this, getElementTypeOrSelf(getResult()),
                      getElementTypeOrSelf(getReal()));
}

LogicalResult SelectOp::verify() {
  Type elements = getElementTypeOrSelf(getCondition());
  if (!elements.isInteger(1)) // (C1)
    return emitOpError("a condition has elements of i1, not ") << elements;
  return success();
}

LogicalResult IsFiniteOp::verify() {
  Type from = getElementTypeOrSelf(getInput());
  Type to = getElementTypeOrSelf(getResult());
  if (!isa<FloatType>(from) || !to.isInteger(1)) // (C1)
    return emitOpError("goes from floats to i1, not from ")
           << from << " to " << to;
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  Type elements = getElementTypeOrSelf(getInput());
  if (!isa<FloatType>(elements)) // (C1)
    return emitOpError("rounds floats, not ") << elements;
  int64_t exponent = getExponentBits(), mantissa = getMantissaBits();
  if (exponent < 1 || mantissa < 0) // (C2)
    return emitOpError(
               "needs at least 1 exponent bit and 0 mantissa bits, not ")
           << exponent << " and " << mantissa;
  return success();
}

LogicalResult BitcastOp::verify() {
  Type from = getElementTypeOrSelf(getInput());
  Type to = getElementTypeOrSelf(getResult());
  if (!from.isIntOrFloat() || !to.isIntOrFloat() ||
      from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth()) // (C1)
    return emitOpError("element types differ in width: ")
           << from << " and " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// Folds to an operand of exactly the same type, so that no layout changes
//===----------------------------------------------------------------------===//

/// Whether every element is the number; for floats -0 is not 0.
static bool isSplatOf(Attribute attribute, double value) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(attribute);
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().isExactlyValue(value);
  return isa<IntegerType>(splat.getElementType()) &&
         splat.getSplatValue<APInt>() ==
             APInt(splat.getElementType().getIntOrFloatBitWidth(),
                   static_cast<uint64_t>(value));
}

/// Folds to lhs if rhs is a splat of the neutral element.
static OpFoldResult foldNeutral(Operation *op, Attribute rhs, double neutral) {
  Value lhs = op->getOperand(0);
  if (isSplatOf(rhs, neutral) && lhs.getType() == op->getResult(0).getType())
    return lhs;
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // As -0 + 0 is 0, -0 is neutral for floats.
  bool isReal = isa<FloatType>(getElementTypeOrSelf(getResult()));
  return foldNeutral(*this, adaptor.getRhs(), isReal ? -0.0 : 0.0);
}
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor.getRhs(), 0);
}
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor.getRhs(), 1);
}
