//===- LayoutTable.cpp - the layout every value should have ---------------===//

#include "weft/passes/sharding/propagation/LayoutTable.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/CountedLoop.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/passes/sharding/FreeRegions.h"
#include "weft/passes/sharding/resharding/Price.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace weft;
using namespace mlir;

LayoutTable::LayoutTable(func::FuncOp function, MeshAttr mesh,
                         const TargetRates &rates)
    : function(function), regionFlow(function), places(function),
      meshAttribute(mesh), targetRates(&rates),
      meshValue(withRates(mesh.getMesh(), rates)),
      annotatedResults(function.getNumResults()),
      donatedArguments(function.getNumResults()) {
  size_t count = function.getBody().front().getOperations().size();
  ruled.reserve(count);
  indices.reserve(count);
  entries.reserve(count + function.getNumArguments());
  addBlock(function.getBody().front(), {}, /*executions=*/1);
}

LayoutTable LayoutTable::of(func::FuncOp copy, IRMapping &mapping) const {
  LayoutTable copied(copy, meshAttribute, *targetRates);
  for (const auto &[value, entry] : entries)
    copied.entryOf(mapping.lookup(value)) = entry;
  for (const auto &[value, layout] : partials)
    copied.partials[mapping.lookup(value)] = layout;
  copied.annotatedResults = annotatedResults;
  for (auto [result, argument] : llvm::enumerate(donatedArguments))
    if (argument)
      copied.donatedArguments[result] = mapping.lookup(argument);
  return copied;
}

/// Adds ops in program order, those of regions after the op that contains
/// them.
void LayoutTable::addBlock(Block &block, llvm::ArrayRef<SubAxis> bound,
                           int64_t executions) {
  auto add = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    LayoutEntry &entry = entries[regionFlow.leader(value)];
    entry.layout = Layout::replicated(type.getRank());
    entry.layout.part = places.of(value);
    entry.forbiddenAxes.assign(bound.begin(), bound.end());
  };
  llvm::for_each(block.getArguments(), add);
  for (Operation &op : block) {
    if (op.hasTrait<ObservesLayout>())
      continue; // it accepts any layout
    indices[&op] = ruled.size();
    ruled.push_back(OpWithRule::get(&op));
    ruled.back().put(places.of(&op));
    executed.push_back(executions);
    llvm::for_each(op.getResults(), add);
    if (ruled.back().source)
      sources.insert(op.result_begin(), op.result_end());
    if (hasRegionFlow(&op))
      for (Region &region : op.getRegions())
        addBlock(region.front(), bound, executionsWithin(&op, executions));
    else if (FixedLayoutsOpInterface says = freeRegionOf(&op))
      addBlock(op.getRegion(0).front(),
               boundAxes(meshValue, says.getFreeAxes()), executions);
  }
}

/// The loop that carries a value; null if there is none.
static Operation *loopAround(Value leader, const RegionFlow &flow) {
  if (flow.members(leader).empty())
    return nullptr;
  Operation *holder = isa<BlockArgument>(leader)
                          ? leader.getParentBlock()->getParentOp()
                          : leader.getDefiningOp();
  return cast<RegionBranchOpInterface>(holder).hasLoop() ? holder : nullptr;
}

bool LayoutTable::isCarried(Value value) const {
  return loopAround(regionFlow.leader(value), regionFlow) != nullptr;
}

bool LayoutTable::mayCarry(Value value, const Layout &layout) const {
  int64_t shards = shardsOf(get(value));
  Value leader = regionFlow.leader(value);
  Operation *loop = loopAround(leader, regionFlow);
  if (shardsOf(layout) >= shards || !loop)
    return true;
  auto type = cast<RankedTensorType>(value.getType());
  Link link = slowestLink(meshValue, allAxes(meshValue));
  double bytes =
      double(type.getNumElements()) * double(bytesOf(type.getElementType()));
  return link.moving(std::llround(bytes - bytes / double(shards))) <=
             link.latency &&
         regionFlow.invariant(loop, leader);
}

Layout LayoutTable::annotated(Value value) const {
  Layout layout = get(value);
  if (auto it = partials.find(value); it != partials.end()) {
    layout.partial = it->second.partial;
    layout.reduce = it->second.reduce;
  }
  return layout;
}

TensorLayouts LayoutTable::layoutsOf(const OpWithRule &op) const {
  TensorLayouts layouts;
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    Value value = op.value(tensor);
    auto it = entries.find(regionFlow.leader(value));
    bool silent = it == entries.end() || sources.contains(value);
    layouts.push_back(silent ? nullptr : &it->second.layout);
  }
  return layouts;
}

bool LayoutTable::isFree(Value value) const {
  Value leader = regionFlow.leader(value);
  auto it = entries.find(leader);
  bool isPort =
      isa<BlockArgument>(leader) && regionFlow.members(leader).empty();
  return it != entries.end() && !it->second.fixed && !it->second.group &&
         it->second.mustDivide.empty() && !isPort && !sources.contains(value);
}

Layout LayoutTable::asPort(Layout layout, Type type) const {
  if (!function->hasAttr(kFullPortsAttr))
    return layout;
  auto isCut = [&](const SubAxis &axis) {
    return axis.size != meshValue.axes[axis.axis].size;
  };
  for (auto [axes, size] :
       llvm::zip_equal(layout.dims, cast<RankedTensorType>(type).getShape())) {
    axes.erase(llvm::find_if(axes, isCut), axes.end());
    while (size % shardCount(axes) != 0)
      axes.pop_back();
  }
  return layout;
}

Layout LayoutTable::resultLayout(unsigned result) const {
  if (annotatedResults[result])
    return *annotatedResults[result];
  if (donatedArguments[result])
    return annotated(donatedArguments[result]);
  Value value = function.getBody().front().getTerminator()->getOperand(result);
  return asPort(get(value), value.getType());
}

//===----------------------------------------------------------------------===//
// Ops with regions
//===----------------------------------------------------------------------===//

/// The layouts that an op with stated layouts requires and produces.
static OpSharding stated(const LayoutTable &table,
                         FixedLayoutsOpInterface says) {
  OpSharding sharding;
  bool free = !says.getFreeAxes().empty();
  for (unsigned i = 0; i < says->getNumOperands(); ++i) {
    Layout said = says.getOperandLayout(i).getLayout();
    Value inside = free ? says->getRegion(0).getArgument(i) : Value();
    sharding.operands.push_back(inside ? compose(said, table.get(inside))
                                       : said);
  }
  for (Value result : says->getResults())
    sharding.results.push_back(table.annotated(result));
  return sharding;
}

OpSharding LayoutTable::regionSharding(Operation *op) const {
  if (auto says = dyn_cast<FixedLayoutsOpInterface>(op))
    return stated(*this, says);
  OpSharding sharding;
  if (FixedLayoutsOpInterface says = freeRegionEndedBy(op)) {
    for (OpResult result : says->getResults())
      sharding.operands.push_back(
          freeLayout(get(result),
                     says.getResultLayout(result.getResultNumber()).getLayout(),
                     says.getFreeAxes()));
    return sharding;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    Value target = type ? regionFlow.target(operand) : Value();
    Layout predicate = Layout::replicated(type ? type.getRank() : 0);
    predicate.part = places.of(op);
    sharding.operands.push_back(target ? get(target) : predicate);
  }
  for (Value result : op->getResults())
    sharding.results.push_back(
        isa<RankedTensorType>(result.getType()) ? get(result) : Layout());
  return sharding;
}

OpSharding LayoutTable::borderSharding(const OpWithRule &op) const {
  if (isRuledByRegions(op.op))
    return regionSharding(op.op);
  OpSharding sharding;
  if (isa<ConstrainOp>(op.op)) {
    sharding.operands = {annotated(op.op->getResult(0))};
    return sharding;
  }
  for (OpOperand &operand : op.op->getOpOperands())
    sharding.operands.push_back(isa<RankedTensorType>(operand.get().getType())
                                    ? resultLayout(operand.getOperandNumber())
                                    : Layout());
  return sharding;
}

bool weft::isBorder(const OpWithRule &op) {
  return isa<ConstrainOp, func::ReturnOp>(op.op) || isRuledByRegions(op.op);
}

int64_t weft::shardsOf(const Layout &layout) {
  int64_t shards = 1;
  for (const SubAxes &dim : layout.dims)
    shards *= shardCount(dim);
  return shards;
}

Layout weft::withoutSummands(Layout layout) {
  layout.partial.clear();
  layout.reduce = ReduceKind::Sum;
  return layout;
}
