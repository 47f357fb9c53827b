//===- OpPlaces.cpp - the part of the mesh on which each op runs ----------===//

#include "weft/passes/sharding/propagation/OpPlaces.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/passes/sharding/OpSharding.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace weft;
using namespace mlir;

static std::optional<MeshPart> partIn(Attribute attribute) {
  auto layout = dyn_cast_or_null<LayoutAttr>(attribute);
  return layout ? std::optional(layout.getLayout().part) : std::nullopt;
}

/// The part that the op, or a weft.constrain in it, is annotated with.
static std::optional<MeshPart> annotatedPart(Operation *op) {
  std::optional<MeshPart> part;
  op->walk([&](ConstrainOp constrain) {
    part = partIn(constrain.getLayout());
    return WalkResult::interrupt();
  });
  // Ops that state layouts, or have no rule, run on the whole mesh.
  if (!part && !isa<ShardingRuleOpInterface>(op) && !hasRegionFlow(op))
    part = MeshPart();
  return part;
}

static bool hasParts(func::FuncOp function) {
  return hasPortOnPart(function) ||
         function
             .walk([&](ConstrainOp op) {
               return partIn(op.getLayout()).value_or(MeshPart()).empty()
                          ? WalkResult::advance()
                          : WalkResult::interrupt();
             })
             .wasInterrupted();
}

/// Whether the op is a loop whose values are annotated with several parts.
static bool hasSeveralPlaces(Operation *op) {
  auto loop = dyn_cast<RegionBranchOpInterface>(op);
  if (!loop || !hasRegionFlow(op) || !loop.hasLoop())
    return false;
  std::set<MeshPart> parts;
  op->walk([&](ConstrainOp constrain) {
    if (auto part = partIn(constrain.getLayout()))
      parts.insert(*part);
  });
  return parts.size() > 1;
}

OpPlaces::OpPlaces(func::FuncOp function) : function(function) {
  if (!hasParts(function))
    return;
  flow.emplace(function);
  addNodes();
  addEdges();
  llvm::stable_sort(
      edges, [](const Edge &a, const Edge &b) { return a.bytes > b.bytes; });
  for (const Edge &edge : edges)
    join(edge.from, edge.to);
}

void OpPlaces::addNodes() {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    nodes.push_back({i, partIn(function.getArgAttr(i, kLayoutAttr))});
  addBlock(function.getBody().front());
}

static bool isOfScalars(Operation &op) {
  return llvm::all_of(op.getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0;
  });
}

void OpPlaces::addBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    bool isOpen = hasSeveralPlaces(&op);
    numbers[&op] = nodes.size();
    nodes.push_back({static_cast<unsigned>(nodes.size()),
                     isOpen ? MeshPart() : annotatedPart(&op)});
    // Scalars are where their operands are, and arrays of one of them anywhere.
    if (OpWithRule::get(&op).source &&
        (!isOfScalars(op) || llvm::all_of(op.getOperands(), [&](Value operand) {
          return isFree(operand);
        })))
      free.insert(&op);
    if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
        llvm::all_of(op.getOperands(),
                     [&](Value operand) { return isOfConstants(operand); }))
      ofConstants.insert(&op);
    if (isOpen)
      addLoop(&op);
  }
}

/// Adds what a loop carries, and its ops.
void OpPlaces::addLoop(Operation *loop) {
  for (OpOperand &operand : loop->getOpOperands())
    if (Value leader = flow->target(operand)) {
      auto number = static_cast<unsigned>(nodes.size());
      if (carried.try_emplace(flow->leader(leader), number).second)
        nodes.push_back({number, std::nullopt});
    }
  for (Region &region : loop->getRegions())
    addBlock(region.front());
}

bool OpPlaces::isFree(Value value) const {
  if (Operation *def = value.getDefiningOp())
    return free.contains(def);
  return value.getParentBlock() != &function.getBody().front() &&
         !carried.contains(flow->leader(value)) &&
         flow->members(flow->leader(value)).empty();
}

bool OpPlaces::isOfConstants(Value value) const {
  if (Operation *def = value.getDefiningOp())
    return ofConstants.contains(def);
  Value leader = flow->leader(value);
  if (!carried.contains(leader))
    return false;
  return llvm::all_of(flow->sources(leader), [&](OpOperand *source) {
    return flow->leader(source->get()) == leader ||
           (source->get().getDefiningOp() &&
            ofConstants.contains(source->get().getDefiningOp()));
  });
}

/// Adds the edge of an operand: to the carried value that it becomes, or to the
/// op.
void OpPlaces::addEdge(OpOperand &operand, unsigned to) {
  Value value = operand.get(), target = flow->target(operand);
  if (auto known = carried.find(target); target && known != carried.end())
    to = known->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto from = nodeOf(value);
  if (!type || !from || isFree(value))
    return;
  int64_t bytes = type.getNumElements() * bytesOf(type.getElementType());
  edges.push_back({isOfConstants(value) ? 0 : bytes, *from, to});
}

void OpPlaces::addEdges() {
  // An updated value is where the memory is that it reuses.
  Operation *end = function.getBody().front().getTerminator();
  for (BlockArgument argument : function.getArguments())
    if (auto result = donatedResult(function, argument.getArgNumber()))
      if (auto value = nodeOf(end->getOperand(*result)))
        edges.push_back({std::numeric_limits<int64_t>::max(),
                         argument.getArgNumber(), *value});
  for (auto &[op, number] : numbers) {
    if (op->hasTrait<ObservesLayout>() || free.contains(op))
      continue;
    for (OpOperand &operand : op->getOpOperands())
      addEdge(operand, number);
  }
  for (auto &[leader, number] : carried)
    for (OpOperand *source : flow->sources(leader))
      addEdge(*source, number);
  llvm::stable_sort(edges, [](const Edge &a, const Edge &b) {
    return std::pair(a.to, a.from) < std::pair(b.to, b.from);
  });
}

unsigned OpPlaces::find(unsigned node) const {
  while (nodes[node].parent != node)
    node = nodes[node].parent;
  return node;
}

void OpPlaces::join(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b ||
      (nodes[a].fixed && nodes[b].fixed && *nodes[a].fixed != *nodes[b].fixed))
    return;
  if (b < a)
    std::swap(a, b);
  if (!nodes[a].fixed)
    nodes[a].fixed = nodes[b].fixed;
  nodes[b].parent = a;
}

std::optional<unsigned> OpPlaces::nodeOf(Operation *op) const {
  for (; op && op != function; op = op->getParentOp())
    if (auto known = numbers.find(op); known != numbers.end())
      return known->second;
  return std::nullopt;
}

std::optional<unsigned> OpPlaces::nodeOf(Value value) const {
  if (auto known = carried.find(flow->leader(value)); known != carried.end())
    return known->second;
  if (Operation *def = value.getDefiningOp())
    return nodeOf(def);
  if (value.getParentBlock() == &function.getBody().front())
    return cast<BlockArgument>(value).getArgNumber();
  return nodeOf(value.getParentBlock()->getParentOp());
}

MeshPart OpPlaces::of(Operation *op) const {
  std::optional<unsigned> node = nodes.empty() ? std::nullopt : nodeOf(op);
  return node ? nodes[find(*node)].fixed.value_or(MeshPart()) : MeshPart();
}

MeshPart OpPlaces::of(Value value) const {
  std::optional<unsigned> node = nodes.empty() ? std::nullopt : nodeOf(value);
  return node ? nodes[find(*node)].fixed.value_or(MeshPart()) : MeshPart();
}
