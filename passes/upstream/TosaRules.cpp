//===- TosaRules.cpp - ops of the Tensor Operator Set Architecture --------===//

#include "weft/passes/upstream/StructuredBlocks.h"
#include "weft/passes/upstream/UpstreamRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace weft;

static RankedTensorType tensorTypeOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

template <typename Model, typename Op>
using RuleModel = ShardingRuleOpInterface::ExternalModel<Model, Op>;

/// Adds all operands with no factor in any dimension.
static void addReplicatedOperands(ShardingRule &rule, Operation *op) {
  for (Value operand : op->getOperands()) {
    RankedTensorType type = tensorTypeOf(operand);
    rule.operands.push_back(TensorFactors(type ? type.getRank() : 0));
  }
}

//===----------------------------------------------------------------------===//
// Elementwise, with broadcasts
//===----------------------------------------------------------------------===//

namespace {
/// The elementwise rule in which a dimension of size 1 beside a larger
/// dimension is broadcast, so it has no factor.
struct BroadcastingModel
    : ShardingRuleOpInterface::FallbackModel<BroadcastingModel> {
  ShardingRule getShardingRule(Operation *op) const {
    RankedTensorType result = tensorTypeOf(op->getResult(0));
    ShardingRule rule =
        elementwiseRule(result.getShape(), {}, op->getNumResults());
    addReplicatedOperands(rule, op);
    for (auto [operand, factors] :
         llvm::zip_equal(op->getOperands(), rule.operands)) {
      RankedTensorType type = tensorTypeOf(operand);
      if (!type || type.getRank() != result.getRank())
        continue; // This is the shift operand of tosa.mul.
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.getDimSize(dim) == result.getDimSize(dim) &&
            type.getDimSize(dim) != 1)
          factors[dim] = rule.results[0][dim];
    }
    return rule;
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &) const {
    return cloneWithTypes(builder, op, operands, types);
  }
};

//===----------------------------------------------------------------------===//
// Contractions, reductions
//===----------------------------------------------------------------------===//

/// ([n, h, c], [n, c, w]) -> ([n, h, w]) reduce={c}
struct MatMulModel : RuleModel<MatMulModel, tosa::MatMulOp> {
  ShardingRule getShardingRule(Operation *op) const {
    RankedTensorType a = tensorTypeOf(op->getOperand(0)),
                     result = tensorTypeOf(op->getResult(0));
    ShardingRule rule;
    addReplicatedOperands(rule, op);
    for (int64_t size : result.getShape())
      rule.factors.push_back({size, FactorKind::Pass});
    // Padding is 0, which is not neutral for integers with a zero point.
    bool sums = isa<FloatType>(a.getElementType());
    rule.factors.push_back(
        {a.getDimSize(2), sums ? FactorKind::Reduce : FactorKind::Replicated});
    rule.factors.back().ownsPadding = true;
    rule.operands[0] = {{0}, {1}, {3}};
    rule.operands[1] = {{0}, {3}, {2}};
    rule.results = {{{0}, {1}, {2}}};
    return rule;
  }
  /// Masks both operands, as 0*NaN is NaN.
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &placement) const {
    ShardingRule rule = getShardingRule(op);
    SmallVector<Value> masked(operands);
    masked[0] = maskedBlock(builder, operands[0], 2, rule, 3, placement);
    masked[1] = maskedBlock(builder, operands[1], 1, rule, 3, placement);
    return cloneWithTypes(builder, op, masked, types);
  }
};

/// The rule of tosa.reduce_*: the reduced dimension stays, with size 1.
template <typename Op, ReduceKind kind>
struct ReduceModel : RuleModel<ReduceModel<Op, kind>, Op> {
  static bool passesOverNan(Operation *op) {
    auto mode = op->getAttrOfType<tosa::NanPropagationModeAttr>("nan_mode");
    return mode && mode.getValue() == tosa::NanPropagationMode::IGNORE;
  }
  ShardingRule getShardingRule(Operation *op) const {
    RankedTensorType input = tensorTypeOf(op->getOperand(0));
    ShardingRule rule = elementwiseRule(input.getShape(), {input.getRank()}, 1);
    unsigned axis = cast<Op>(op).getAxis();
    rule.factors[axis].kind =
        passesOverNan(op) ? FactorKind::Replicated : FactorKind::Reduce;
    rule.factors[axis].reduce = kind;
    rule.factors[axis].ownsPadding = true;
    rule.results[0][axis].clear();
    return rule;
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &placement) const {
    unsigned axis = cast<Op>(op).getAxis();
    Value masked = maskedBlock(builder, operands[0], axis, getShardingRule(op),
                               axis, placement);
    return cloneWithTypes(builder, op, masked, types);
  }
};

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

struct TransposeModel : RuleModel<TransposeModel, tosa::TransposeOp> {
  ShardingRule getShardingRule(Operation *op) const {
    RankedTensorType input = tensorTypeOf(op->getOperand(0));
    ShardingRule rule = elementwiseRule(input.getShape(), {input.getRank()}, 1);
    for (auto [dim, from] :
         llvm::enumerate(cast<tosa::TransposeOp>(op).getPerms()))
      rule.results[0][dim] = {static_cast<unsigned>(from)};
    rule.linearity = {Linearity::Moving};
    return rule;
  }
};

/// The rule of tosa.reshape. Its shape is an operand: the local op gets the
/// local shape.
struct ReshapeModel : RuleModel<ReshapeModel, tosa::ReshapeOp> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule = reshapeRule(tensorTypeOf(op->getOperand(0)).getShape(),
                                    tensorTypeOf(op->getResult(0)).getShape());
    for (Factor &factor : rule.factors)
      if (factor.kind == FactorKind::Shift)
        factor.kind = FactorKind::Replicated; // These dimensions do not align.
    rule.positions.clear();
    rule.operands.resize(2);
    rule.linearity = {Linearity::Moving, Linearity::None};
    return rule;
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &) const {
    auto local = cast<RankedTensorType>(types[0]);
    auto shape = tosa::ConstShapeOp::create(
        builder, op->getLoc(),
        tosa::shapeType::get(op->getContext(), local.getRank()),
        builder.getIndexTensorAttr(local.getShape()));
    return {tosa::ReshapeOp::create(builder, op->getLoc(), local, operands[0],
                                    shape)};
  }
};
} // namespace

void weft::attachBroadcastingRule(RegisteredOperationName op) {
  attachRule<BroadcastingModel>(op);
}

template <typename Op, ReduceKind kind>
static void attachReduction(MLIRContext *context) {
  attachRuleTo<Op, ReduceModel<Op, kind>>(context);
}

void weft::registerTosaRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *dialect) {
    // Masks are built of ops of these dialects.
    context->loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                         tensor::TensorDialect>();
    for (RegisteredOperationName op : operationsOf(dialect))
      if (op.hasTrait<OpTrait::tosa::TosaElementwiseOperator>())
        attachBroadcastingRule(op);
    for (StringRef name :
         {tosa::MulOp::getOperationName(), tosa::CastOp::getOperationName()})
      attachBroadcastingRule(*RegisteredOperationName::lookup(name, context));
    attachConstantRule(*RegisteredOperationName::lookup(
        tosa::ConstOp::getOperationName(), context));
    attachRuleTo<tosa::MatMulOp, MatMulModel>(context);
    attachReduction<tosa::ReduceSumOp, ReduceKind::Sum>(context);
    attachReduction<tosa::ReduceProductOp, ReduceKind::Prod>(context);
    attachReduction<tosa::ReduceMaxOp, ReduceKind::Max>(context);
    attachReduction<tosa::ReduceMinOp, ReduceKind::Min>(context);
    attachReduction<tosa::ReduceAllOp, ReduceKind::And>(context);
    attachReduction<tosa::ReduceAnyOp, ReduceKind::Or>(context);
    attachRuleTo<tosa::TransposeOp, TransposeModel>(context);
    attachRuleTo<tosa::ReshapeOp, ReshapeModel>(context);
  });
}
