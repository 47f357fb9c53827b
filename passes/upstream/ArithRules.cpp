//===- ArithRules.cpp - ops on each element alone, and constants ----------===//

#include "weft/dialects/weft/TypedData.h"
#include "weft/passes/upstream/StructuredBlocks.h"
#include "weft/passes/upstream/UpstreamRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;

static int64_t rankOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : 0;
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// How partial sums in each operand pass through the op: as for Weft's own ops
/// in sums, differences, products and negations; in no other op.
static SmallVector<Linearity, 3> linearityOf(Operation *op) {
  using List = SmallVector<Linearity, 3>;
  return llvm::TypeSwitch<Operation *, List>(op)
      .Case<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(
          [](auto) {
            return List{Linearity::JointlyLinear, Linearity::JointlyLinear};
          })
      .Case<arith::MulFOp, arith::MulIOp>(
          [](auto) { return List{Linearity::Linear, Linearity::Linear}; })
      .Case<arith::NegFOp>(
          [](auto) { return List{Linearity::Linear | Linearity::Falling}; })
      .Default([](auto) { return List{}; });
}

namespace {
struct ElementwiseModel
    : ShardingRuleOpInterface::FallbackModel<ElementwiseModel> {
  ShardingRule getShardingRule(Operation *op) const {
    ArrayRef<int64_t> shape;
    SmallVector<int64_t> ranks;
    for (Type type : op->getOperandTypes())
      ranks.push_back(rankOf(type));
    if (auto tensor = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
      shape = tensor.getShape();
    ShardingRule rule = elementwiseRule(shape, ranks, op->getNumResults());
    rule.linearity = linearityOf(op);
    return rule;
  }

  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange resultTypes,
                                const LocalPlacement &placement) const {
    ShardingRule rule = getShardingRule(op);
    if (isSpeculatable(op) || !hasPadding(rule, rule.factors.size(), placement))
      return cloneWithTypes(builder, op, operands, resultTypes);
    linalg::GenericOp loops =
        elementwiseLoops(builder, op, operands, resultTypes);
    guardPadding(loops, rule, placement);
    return SmallVector<Value>(loops->getResults());
  }
};
} // namespace

void weft::attachElementwiseRule(RegisteredOperationName op) {
  attachRule<ElementwiseModel>(op);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The attribute that holds the data, which has the result's type.
static NamedAttribute dataOf(Operation *op) {
  Type type = op->getResult(0).getType();
  for (NamedAttribute attribute : op->getAttrs())
    if (auto typed = dyn_cast<TypedAttr>(attribute.getValue());
        typed && typed.getType() == type)
      return attribute;
  llvm_unreachable("a constant without data of its type does not verify");
}

static Attribute retyped(Attribute data, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (auto splat = dyn_cast<SplatElementsAttr>(data); splat && tensor)
    return splat.resizeSplat(tensor);
  if (auto dense = dyn_cast<DenseElementsAttr>(data); dense && tensor)
    return dense.reshape(tensor);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(data);
      resource && tensor)
    return DenseResourceElementsAttr::get(tensor, resource.getRawHandle());
  return data;
}

static void retypeConstant(Operation *op, Type type) {
  NamedAttribute data = dataOf(op);
  op->setAttr(data.getName(), retyped(data.getValue(), type));
  op->getResult(0).setType(type);
}

namespace {
/// The rule of arith.constant. Data and result have one type, layout included.
/// A splat is sharded freely; other data stays replicated.
struct ConstantModel : ShardingRuleOpInterface::FallbackModel<ConstantModel> {
  ShardingRule getShardingRule(Operation *op) const {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    bool splat = isa<SplatElementsAttr>(dataOf(op).getValue());
    ShardingRule rule;
    TensorFactors &result = rule.results.emplace_back();
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
      rule.factors.push_back(
          {type.getDimSize(dim),
           splat ? FactorKind::Pass : FactorKind::Replicated});
      result.push_back({static_cast<unsigned>(dim)});
    }
    return rule;
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder, ValueRange,
                                TypeRange resultTypes,
                                const LocalPlacement &) const {
    Operation *copy = builder.clone(*op);
    retypeConstant(copy, resultTypes[0]);
    return {copy->getResult(0)};
  }
};

struct ConstantData : TypedDataOpInterface::FallbackModel<ConstantData> {
  void setResultType(Operation *op, Type type) const {
    retypeConstant(op, type);
  }
};
} // namespace

void weft::attachConstantRule(RegisteredOperationName op) {
  if (!op.hasInterface<TypedDataOpInterface>())
    op.attachInterface<ConstantData>();
  attachRule<ConstantModel>(op);
}

/// Attaches the elementwise rule to all ops of a dialect with the trait
/// Elementwise.
static void attachToElementwise(Dialect *dialect) {
  for (RegisteredOperationName op : operationsOf(dialect))
    if (op.hasTrait<OpTrait::Elementwise>())
      attachElementwiseRule(op);
}

void weft::registerArithRules(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, arith::ArithDialect *dialect) {
        // Divisions of blocks with padding become linalg ops.
        context->loadDialect<linalg::LinalgDialect>();
        attachToElementwise(dialect);
        attachConstantRule(*RegisteredOperationName::lookup(
            arith::ConstantOp::getOperationName(), context));
      });
  registry.addExtension(+[](MLIRContext *, math::MathDialect *dialect) {
    attachToElementwise(dialect);
  });
}
