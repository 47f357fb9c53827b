//===- OpPlaces.cpp - the part of the mesh on which each op runs ----------===//

#include "weft/passes/sharding/propagation/OpPlaces.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/RegionFlow.h"

#include "llvm/ADT/STLExtras.h"

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

OpPlaces::OpPlaces(func::FuncOp function) : function(function) {
  if (!hasParts(function))
    return;
  addNodes();
  addEdges();
  llvm::stable_sort(
      edges, [](const Edge &a, const Edge &b) { return a.bytes > b.bytes; });
  for (const Edge &edge : edges)
    join(edge.from, edge.to);
}

void OpPlaces::addNodes() {
  auto add = [&](std::optional<MeshPart> fixed) {
    nodes.push_back({static_cast<unsigned>(nodes.size()), std::move(fixed)});
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    add(partIn(function.getArgAttr(i, kLayoutAttr)));
  for (Operation &op : function.getBody().front().without_terminator()) {
    numbers[&op] = nodes.size();
    add(annotatedPart(&op));
  }
}

/// Whether any block of the value is computed at no cost, wherever it is used.
static bool isOfSource(Value value) {
  Operation *def = value.getDefiningOp();
  return def && OpWithRule::get(def).source;
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
    if (op->hasTrait<ObservesLayout>() || OpWithRule::get(op).source)
      continue;
    for (Value operand : op->getOperands())
      if (auto from = nodeOf(operand); from && !isOfSource(operand))
        if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
          edges.push_back(
              {type.getNumElements() * bytesOf(type.getElementType()), *from,
               number});
  }
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
  Operation *outer = function.getBody().front().findAncestorOpInBlock(*op);
  auto known = numbers.find(outer);
  return known == numbers.end() ? std::nullopt : std::optional(known->second);
}

std::optional<unsigned> OpPlaces::nodeOf(Value value) const {
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
