//===- Partition.cpp - each device's program ------------------------------===//

#include "weft/passes/sharding/LocalBlocks.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/ReshardCache.h"

#include "mlir/IR/IRMapping.h"

namespace weft {
#define GEN_PASS_DEF_PARTITIONPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
/// Rebuilds a function's block on local values.
class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp function)
      : function(function), global(&function.getBody().front()),
        builder(function.getContext()) {}
  void run();
  unsigned numCollectives = 0, numMasks = 0;

private:
  void recordPorts();
  void build(Operation &op);
  void buildReshard(ReshardOp op);
  Value buildStep(ReshardOp op, Value value, const Layout &from,
                  const ReshardStep &step);
  Value buildMove(ReshardOp op, Value value, const Layout &from,
                  const ReshardStep &step);
  /// Masks the operands of an op that reduces an uneven dimension.
  void maskOperands(Operation &op, llvm::SmallVectorImpl<Value> &operands);
  void maskOperand(Operation &op, const RuledOp &ruled, unsigned operand,
                   const FactorAxes &axes, Value &value);

  func::FuncOp function;
  Block *global;
  OpBuilder builder;
  IRMapping local;
  std::optional<ReshardCache> plans;
};
} // namespace

/// Arguments and results keep in attributes what their types lose.
void FunctionPartitioner::recordPorts() {
  // All at once: each change of one port copies the list of all.
  auto record = [&](llvm::ArrayRef<Type> types,
                    llvm::function_ref<DictionaryAttr(unsigned)> known) {
    llvm::SmallVector<DictionaryAttr> result;
    for (auto [i, type] : llvm::enumerate(types)) {
      NamedAttrList attributes(known(i));
      if (LayoutAttr layout = getLayout(type)) {
        auto tensor = withLayout(cast<RankedTensorType>(type), nullptr);
        attributes.set(kLayoutAttr, layout);
        attributes.set("weft.global_type", TypeAttr::get(tensor));
      }
      result.push_back(attributes.getDictionary(function.getContext()));
    }
    return result;
  };
  function.setAllArgAttrs(record(function.getArgumentTypes(), [&](unsigned i) {
    return function.getArgAttrDict(i);
  }));
  function.setAllResultAttrs(record(function.getResultTypes(), [&](unsigned i) {
    return function.getResultAttrDict(i);
  }));
}

void FunctionPartitioner::run() {
  recordPorts();
  auto *block = new Block();
  function.getBody().push_back(block);
  builder.setInsertionPointToEnd(block);
  for (BlockArgument arg : global->getArguments())
    local.map(arg, block->addArgument(localType(arg.getType()), arg.getLoc()));
  for (Operation &op : *global)
    build(op);
  global->dropAllReferences();
  global->erase();
  function.setFunctionType(
      FunctionType::get(function.getContext(), block->getArgumentTypes(),
                        block->getTerminator()->getOperandTypes()));
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

Value FunctionPartitioner::buildStep(ReshardOp op, Value value,
                                     const Layout &from,
                                     const ReshardStep &step) {
  auto tensor = op.getType();
  MeshAttr mesh = getLayout(tensor).getMesh();
  auto toAttr = LayoutAttr::get(mesh, step.result);
  Type type = localType(withLayout(cast<RankedTensorType>(tensor), toAttr));
  LayoutAttr group = groupOf(mesh, step.axes);
  StringAttr why = op.getReasonAttr();
  Location loc = op.getLoc();
  numCollectives +=
      step.kind != StepKind::Slice && step.kind != StepKind::MakePartial;
  switch (step.kind) {
  case StepKind::Slice:
    return coll::SliceOp::create(builder, loc, type, value, step.to, group,
                                 why);
  case StepKind::MakePartial:
    return coll::MakePartialOp::create(builder, loc, type, step.reduce, value,
                                       group, why);
  case StepKind::AllGather:
    return coll::AllGatherOp::create(builder, loc, type, value, step.from,
                                     group, why);
  case StepKind::AllToAll:
    return coll::AllToAllOp::create(builder, loc, type, value, step.to,
                                    step.from, group, why);
  case StepKind::AllReduce:
    return coll::AllReduceOp::create(builder, loc, TypeRange{type}, step.reduce,
                                     ValueRange{value}, group, why)
        .getResult(0);
  case StepKind::ReduceScatter:
    return coll::ReduceScatterOp::create(builder, loc, type, value, step.reduce,
                                         step.to, group, why);
  case StepKind::Permute:
  case StepKind::Exchange:
    return buildMove(op, value, from, step);
  }
  return value;
}

/// The summands as the shards of a dimension in front.
static Layout withSummandsInFront(const Layout &layout) {
  Layout result;
  result.dims.push_back(layout.partial);
  result.dims.append(layout.dims);
  return result;
}

/// A permute or an exchange. Partial values move among the devices of their
/// own summands: sum{"x"} of [8] is [x] of 2x8 on x=2.
Value FunctionPartitioner::buildMove(ReshardOp op, Value value,
                                     const Layout &from,
                                     const ReshardStep &step) {
  MeshAttr mesh = getLayout(op.getType()).getMesh();
  Layout source = from, target = step.result;
  auto global = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> shape(global.getShape());
  Location loc = op.getLoc();
  Type elements = global.getElementType();
  bool partial = from.isPartial();
  if (partial) {
    source = withSummandsInFront(from);
    target = withSummandsInFront(step.result);
    shape.insert(shape.begin(), shardCount(from.partial));
    value = ReshapeOp::create(
        builder, loc,
        RankedTensorType::get(localShape(source, shape), elements), value);
  }
  auto fromAttr = LayoutAttr::get(mesh, source);
  auto toAttr = LayoutAttr::get(mesh, target);
  auto type = RankedTensorType::get(localShape(target, shape), elements);
  StringAttr why = op.getReasonAttr();
  if (step.kind == StepKind::Permute)
    value = coll::PermuteOp::create(builder, loc, type, value, shape, fromAttr,
                                    toAttr, why);
  else
    value = coll::ExchangeOp::create(builder, loc, type, value, shape, fromAttr,
                                     toAttr, why);
  if (partial)
    value = ReshapeOp::create(
        builder, loc,
        RankedTensorType::get(type.getShape().drop_front(), elements), value);
  return value;
}

void FunctionPartitioner::buildReshard(ReshardOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  MeshAttr mesh = getLayout(type).getMesh();
  Layout from = getLayout(op.getInput().getType()).getLayout();
  Layout to = getLayout(type).getLayout();
  // A module has one mesh.
  if (!plans)
    plans.emplace(mesh.getMesh());
  const ReshardPlan &plan = plans->plan(
      type.getShape(), elementBytes(type.getElementType()), from, to);
  Value value = local.lookup(op.getInput());
  for (const ReshardStep &step : plan.steps) {
    value = buildStep(op, value, from, step);
    from = step.result;
  }
  local.map(op.getResult(), value);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

void FunctionPartitioner::maskOperand(Operation &op, const RuledOp &ruled,
                                      unsigned operand, const FactorAxes &axes,
                                      Value &value) {
  LayoutAttr layout = getLayout(op.getOperand(operand).getType());
  for (auto [dim, factors] : llvm::enumerate(ruled.rule.operands[operand])) {
    if (factors.size() != 1)
      continue; // several factors are sharded only where they divide
    const Factor &factor = ruled.rule.factors[factors.front()];
    const SubAxes &over = axes[factors.front()];
    if (factor.kind != FactorKind::Reduce ||
        factor.size % shardCount(over) == 0)
      continue;
    value = maskPadding(builder, op.getLoc(), value, dim, factor.size,
                        layout.getMesh(), over, factor.reduce);
    ++numMasks;
  }
}

void FunctionPartitioner::maskOperands(Operation &op,
                                       llvm::SmallVectorImpl<Value> &operands) {
  RuledOp ruled = RuledOp::get(&op);
  LayoutAttr any;
  for (Type type : op.getOperandTypes())
    if (LayoutAttr layout = getLayout(type))
      any = layout;
  if (!any)
    return;
  Mesh mesh = any.getMesh().getMesh();
  FactorAxes axes(ruled.rule.factors.size());
  for (auto [i, value] : llvm::enumerate(op.getOperands()))
    if (LayoutAttr layout = getLayout(value.getType()))
      mergeInto(axes, ruled.project(mesh, i, layout.getLayout()));
  for (unsigned i = 0; i < operands.size(); ++i)
    if (getLayout(op.getOperand(i).getType()))
      maskOperand(op, ruled, i, axes, operands[i]);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void FunctionPartitioner::build(Operation &op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return buildReshard(reshard);
  llvm::SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(local.lookup(operand));
  llvm::SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(localType(type));
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled) {
    Operation *copy = builder.clone(op, local);
    for (auto [result, type] : llvm::zip(copy->getResults(), types))
      result.setType(type);
    return;
  }
  maskOperands(op, operands);
  llvm::SmallVector<Type> globalTypes(op.getResultTypes());
  BlockPlacement placement{TypeRange(globalTypes)};
  llvm::SmallVector<Value> built =
      ruled.buildLocal(builder, operands, types, placement);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), built))
    local.map(result, value);
}

namespace {
struct Partition : weft::impl::PartitionPassBase<Partition> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      FunctionPartitioner partitioner(function);
      partitioner.run();
      numCollectives += partitioner.numCollectives;
      numMasks += partitioner.numMasks;
    }
  }
};
} // namespace
