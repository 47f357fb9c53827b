//===- Partition.cpp - each device's program ------------------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/dialects/weft/local/AbsentElement.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/passes/sharding/FetchedOperands.h"
#include "weft/passes/sharding/LocalBlocks.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/PartGroups.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/sharding/RegionPlans.h"
#include "weft/passes/sharding/RoundMoves.h"

#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/SaveAndRestore.h"

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
  void mapCaptured(Operation *before);
  /// Rebuilds a loop or branch with regions on local values.
  void buildFlow(Operation &op);
  void buildBlock(Block &from, Block &into);
  /// Builds ops that a part of the mesh runs, as a region.
  void buildGroup(const PartGroup &group);
  /// Replaces an op that states its layouts by its code on blocks.
  void buildOnBlocks(FixedLayoutsOpInterface op, ValueRange operands);
  void buildReshard(ReshardOp op);
  Value buildStep(ReshardOp op, Value value, const Layout &from,
                  const ReshardStep &step);
  Value buildPlaced(ReshardOp op, Value value, const Layout &from,
                    const ReshardStep &step);
  Value buildMove(ReshardOp op, Value value, const Layout &from,
                  const ReshardStep &step);
  /// Masks an operand of an op that combines elements of an uneven dimension.
  void maskOperand(const OpBlocks &blocks, unsigned operand, Value &value);

  func::FuncOp function;
  Block *global;
  OpBuilder builder;
  IRMapping local;
  RoundMoves roundMoves;
  SubAxes bound; ///< axes along which values of the present region differ
  std::optional<RegionPlans> plans;
};
} // namespace

/// Records the global types and layouts of arguments and results in attributes.
void FunctionPartitioner::recordPorts() {
  // Attributes are set all at once, as each change of one port copies the whole
  // list.
  auto record = [&](llvm::ArrayRef<Type> types,
                    llvm::function_ref<DictionaryAttr(unsigned)> known) {
    llvm::SmallVector<DictionaryAttr> result;
    for (auto [i, type] : llvm::enumerate(types)) {
      NamedAttrList attributes(known(i));
      if (LayoutAttr layout = getLayout(type)) {
        auto tensor = withLayout(cast<RankedTensorType>(type), nullptr);
        attributes.set(kLayoutAttr, layout);
        attributes.set(kGlobalTypeAttr, TypeAttr::get(tensor));
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

/// The mesh of the function's module.
static MeshAttr meshOf(func::FuncOp function) {
  return function->getParentOfType<ModuleOp>()->getAttrOfType<MeshAttr>(
      kMeshAttr);
}

void FunctionPartitioner::buildBlock(Block &from, Block &into) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&into);
  for (BlockArgument arg : from.getArguments())
    local.map(arg, into.addArgument(localType(arg.getType()), arg.getLoc()));
  if (into.getNumArguments() > 0)
    roundMoves.enter(from.getParentOp(), into.getArgument(0));
  splitMovesBetweenParts(from);
  if (!hasOpsOnParts(from)) {
    for (Operation &op : from)
      build(op);
    return;
  }
  for (const PartGroup &group : groupByPart(from))
    buildGroup(group);
  build(*from.getTerminator());
}

void FunctionPartitioner::buildGroup(const PartGroup &group) {
  if (group.part.empty()) {
    for (Operation *op : group.ops)
      build(*op);
    return;
  }
  llvm::SetVector<Value> inputs = group.inputs(), outputs = group.outputs();
  auto outer = llvm::map_to_vector(
      inputs, [&](Value value) { return local.lookup(value); });
  auto types = llvm::map_to_vector(
      outputs, [](Value value) { return localType(value.getType()); });
  Operation *first = group.ops.front();
  LayoutAttr place = AtOp::placeOn(meshOf(function), group.part);
  auto at = AtOp::create(builder, first->getLoc(), types, place, outer);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&at.getBody().emplaceBlock());
  for (auto [value, argument] : llvm::zip_equal(inputs, outer))
    local.map(value,
              at.getBody().addArgument(argument.getType(), argument.getLoc()));
  for (Operation *op : group.ops)
    build(*op);
  auto yielded = llvm::map_to_vector(
      outputs, [&](Value value) { return local.lookup(value); });
  YieldOp::create(builder, first->getLoc(), yielded);
  for (auto [value, argument] : llvm::zip_equal(inputs, outer))
    local.map(value, argument);
  for (auto [value, result] : llvm::zip_equal(outputs, at.getResults()))
    local.map(value, result);
}

void FunctionPartitioner::buildFlow(Operation &op) {
  Operation *copy = op.cloneWithoutRegions(local);
  builder.insert(copy);
  for (Value result : copy->getResults())
    result.setType(localType(result.getType()));
  for (auto [from, into] : llvm::zip_equal(op.getRegions(), copy->getRegions()))
    buildBlock(from.front(), into.emplaceBlock());
}

void FunctionPartitioner::buildOnBlocks(FixedLayoutsOpInterface op,
                                        ValueRange operands) {
  if (!freeRegionOf(op)) {
    local.map(op->getResults(), op.buildOnBlocks(builder, operands));
    return;
  }
  const Mesh mesh = op->getNumResults() == 0
                        ? op.getOperandLayout(0).getMesh().getMesh()
                        : op.getResultLayout(0).getMesh().getMesh();
  llvm::SaveAndRestore inside(bound, boundAxes(mesh, op.getFreeAxes()));
  Block &body = op->getRegion(0).front();
  local.map(body.getArguments(), operands);
  for (Operation &inner : body.without_terminator())
    build(inner);
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
    local.map(result, local.lookup(value));
}

void FunctionPartitioner::run() {
  recordPorts();
  auto *block = new Block();
  function.getBody().push_back(block);
  buildBlock(*global, *block);
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
  numCollectives += step.kind != ReshardStepKind::Slice &&
                    step.kind != ReshardStepKind::MakePartial &&
                    step.kind != ReshardStepKind::Place;
  switch (step.kind) {
  case ReshardStepKind::Slice:
    return coll::SliceOp::create(builder, loc, type, value, step.to, group,
                                 why);
  case ReshardStepKind::MakePartial:
    return coll::MakePartialOp::create(builder, loc, type, step.reduce, value,
                                       group, why);
  case ReshardStepKind::Place:
    return buildPlaced(op, value, from, step);
  case ReshardStepKind::AllGather:
    return coll::AllGatherOp::create(builder, loc, type, value, step.from,
                                     group, why);
  case ReshardStepKind::AllToAll:
    return coll::AllToAllOp::create(builder, loc, type, value, step.to,
                                    step.from, group, why);
  case ReshardStepKind::AllReduce:
    return coll::AllReduceOp::create(builder, loc, TypeRange{type}, step.reduce,
                                     ValueRange{value}, group, why)
        .getResult(0);
  case ReshardStepKind::ReduceScatter:
    return coll::ReduceScatterOp::create(builder, loc, type, value, step.reduce,
                                         step.to, group, why);
  case ReshardStepKind::Permute:
  case ReshardStepKind::Exchange:
    return buildMove(op, value, from, step);
  }
  return value;
}

/// The layout of values that differ along `varying`, as shards of a new first
/// dimension.
static Layout withVaryingInFront(const SubAxes &varying, const Layout &layout) {
  Layout result;
  result.dims.push_back(varying);
  llvm::append_range(result.dims, layout.dims);
  result.part = layout.part;
  return result;
}

/// Builds a permute or an exchange. Partial values move among the devices of
/// their own summands: sum{"x"} of [8] is [x] of 2x8 on x=2; values of a region
/// move among devices with the same coordinates along bound axes.
Value FunctionPartitioner::buildMove(ReshardOp op, Value value,
                                     const Layout &from,
                                     const ReshardStep &step) {
  MeshAttr mesh = getLayout(op.getType()).getMesh();
  Layout source = from, target = step.result;
  auto global = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> shape(global.getShape());
  Location loc = op.getLoc();
  Type elements = global.getElementType();
  SubAxes varying = bound;
  llvm::append_range(varying, from.partial);
  if (!varying.empty()) {
    SubAxes varyingAfter = bound;
    llvm::append_range(varyingAfter, step.result.partial);
    source = withVaryingInFront(varying, from);
    target = withVaryingInFront(varyingAfter, step.result);
    shape.insert(shape.begin(), shardCount(varying));
    value = ReshapeOp::create(
        builder, loc,
        RankedTensorType::get(localShape(source, shape), elements), value);
  }
  auto fromAttr = LayoutAttr::get(mesh, source);
  auto toAttr = LayoutAttr::get(mesh, target);
  auto type = RankedTensorType::get(localShape(target, shape), elements);
  StringAttr why = op.getReasonAttr();
  if (step.kind == ReshardStepKind::Permute)
    value = coll::PermuteOp::create(builder, loc, type, value, shape, fromAttr,
                                    toAttr, why);
  else
    value = coll::ExchangeOp::create(builder, loc, type, value, shape, fromAttr,
                                     toAttr, why);
  if (!varying.empty())
    value = ReshapeOp::create(
        builder, loc,
        RankedTensorType::get(type.getShape().drop_front(), elements), value);
  return value;
}

/// Puts the shard of dimension `step.from` where it is in the block without the
/// step's axes, among neutral elements.
Value FunctionPartitioner::buildPlaced(ReshardOp op, Value value,
                                       const Layout &from,
                                       const ReshardStep &step) {
  auto tensor = cast<RankedTensorType>(op.getType());
  MeshAttr mesh = getLayout(tensor).getMesh();
  Location loc = op.getLoc();
  unsigned dim = step.from;
  int64_t size = tensor.getDimSize(dim);
  if (size % shardCount(from.dims[dim]) != 0)
    value = maskPadding(builder, loc, value, dim, size, mesh, from.dims[dim],
                        step.reduce);
  auto type = cast<RankedTensorType>(value.getType());
  std::vector<int64_t> shape = localShape(step.result, tensor.getShape());
  std::vector<int64_t> padded = shape;
  int64_t block = type.getDimSize(dim);
  // A start is moved inside, which a block of padding may be only.
  if (padded[dim] % block != 0)
    padded[dim] = block * shardCount(step.axes);
  LocalBuilder b{builder, loc};
  Value whole = ConstantOp::create(builder, loc,
                                   absentData(step.reduce, type.clone(padded)));
  llvm::SmallVector<Value> starts(padded.size(), b.integer(0));
  starts[dim] = blockOffset(builder, loc, mesh, step.axes, block);
  Value placed =
      DynamicUpdateSliceOp::create(builder, loc, whole, value, starts);
  return b.cutTo(placed, shape);
}

void FunctionPartitioner::buildReshard(ReshardOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  MeshAttr mesh = getLayout(type).getMesh();
  Layout from = getLayout(op.getInput().getType()).getLayout();
  Layout to = getLayout(type).getLayout();
  // One RegionPlans is sufficient, as a module has one mesh.
  if (!plans)
    plans.emplace(mesh.getMesh());
  const ReshardPlan &plan = plans->plan(op.getResult(), from, to);
  Value value = local.lookup(op.getInput());
  // Devices that drop a value take no part in the moves among the others.
  if (!isBetweenParts(from, to))
    from = onPart(from, to.part);
  bool isMade = isBetweenParts(from, to);
  for (const ReshardStep &step : plan.steps) {
    auto make = [&](Value its) { return buildStep(op, its, from, step); };
    value = isMade ? roundMoves.build(builder, op, value, make) : make(value);
    from = step.result;
  }
  local.map(op.getResult(), value);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Whether the op combines elements of a factor's shards, so that padding has
/// to be neutral.
static bool mixesPositions(const OpBlocks &blocks, unsigned factor) {
  switch (blocks.ruled.rule.factors[factor].kind) {
  case FactorKind::Reduce:
  case FactorKind::Scan:
  case FactorKind::Select:
    return true;
  case FactorKind::Lookup:
    // If a result has the factor, padding of operands only affects padding of
    // the result.
    return llvm::none_of(blocks.ruled.rule.results, [&](auto &result) {
      return llvm::any_of(result, [&](const DimFactors &dim) {
        return llvm::is_contained(dim, factor);
      });
    });
  default:
    return false;
  }
}

void FunctionPartitioner::maskOperand(const OpBlocks &blocks, unsigned operand,
                                      Value &value) {
  const ShardingRule &rule = blocks.ruled.rule;
  for (auto [dim, factors] : llvm::enumerate(rule.operands[operand])) {
    if (factors.size() != 1)
      continue; // several factors are sharded only if they divide the dimension
    const Factor &factor = rule.factors[factors.front()];
    const SubAxes &over = blocks.axes[factors.front()];
    if (findPositions(rule, operand, factors.front()))
      continue; // fetched operands have their own mask
    if (factor.ownsPadding || !mixesPositions(blocks, factors.front()) ||
        factor.size % shardCount(over) == 0)
      continue;
    value = maskPadding(builder, blocks.ruled.op->getLoc(), value, dim,
                        factor.size, blocks.mesh, over, factor.reduce);
    ++numMasks;
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The op before the insertion point, or null.
static Operation *lastOp(OpBuilder &builder) {
  Block *block = builder.getInsertionBlock();
  return block->empty() ? nullptr : &block->back();
}

/// Replaces global values that regions of ops created after `before` capture
/// (scalars and unsharded tensors) by the local values.
void FunctionPartitioner::mapCaptured(Operation *before) {
  Block *block = builder.getInsertionBlock();
  auto from = before ? std::next(before->getIterator()) : block->begin();
  for (Operation &built : llvm::make_range(from, block->end()))
    for (Region &region : built.getRegions())
      region.walk([&](Operation *inner) {
        for (OpOperand &use : inner->getOpOperands())
          use.set(local.lookupOrDefault(use.get()));
      });
}

void FunctionPartitioner::build(Operation &op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return buildReshard(reshard);
  if (hasRegionFlow(&op))
    return buildFlow(op);
  llvm::SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(local.lookup(operand));
  llvm::SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(localType(type));
  if (auto says = dyn_cast<FixedLayoutsOpInterface>(op))
    return buildOnBlocks(says, operands);
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled) {
    Operation *copy = builder.clone(op, local);
    for (auto [result, type] : llvm::zip(copy->getResults(), types))
      result.setType(type);
    return;
  }
  OpBlocks blocks(op);
  llvm::SmallVector<Type> globalTypes(op.getResultTypes());
  BlockPlacement placement(globalTypes, blocks);
  for (unsigned i = 0; i < operands.size(); ++i)
    if (getLayout(op.getOperand(i).getType())) {
      maskOperand(blocks, i, operands[i]);
      numCollectives += fetchOperand(builder, blocks, i, placement, operands);
    }
  Operation *before = lastOp(builder);
  llvm::SmallVector<Value> built =
      ruled.buildLocal(builder, operands, types, placement);
  numCollectives += placement.collectives();
  mapCaptured(before);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), built))
    local.map(result, value);
}

namespace {
struct Partition : weft::impl::PartitionPassBase<Partition> {
  void runOnOperation() override {
    if (failed(verifyLaidOut(*this, getOperation())))
      return signalPassFailure();
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
