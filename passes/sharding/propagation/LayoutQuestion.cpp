//===- LayoutQuestion.cpp - the layouts of a program as one graph ----------===//

#include "weft/passes/sharding/propagation/LayoutQuestion.h"

#include "weft/base/Saturating.h"
#include "weft/passes/sharding/FreeRegions.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

bool LayoutQuestion::isRuled(unsigned op) const {
  return !table.ops()[op].source && !isBorder(table.ops()[op]);
}

bool LayoutQuestion::isFixed(Value leader) const {
  Operation *def = leader.getDefiningOp();
  return !table.isFree(leader) || seenOutside.contains(leader) ||
         (def && isa<FixedLayoutsOpInterface>(def));
}

/// Finds the values whose layouts are those of results that nobody annotated.
void LayoutQuestion::findSeenOutside() {
  Operation *end = table.func().getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands())
    if (unsigned result = operand.getOperandNumber();
        !table.annotationOfResult(result) && !table.donatedArgument(result))
      seenOutside.insert(table.flow().leader(operand.get()));
}

LayoutQuestion::ValueNode *LayoutQuestion::find(Value value) {
  if (!isa<RankedTensorType>(value.getType()) || !table.knows(value) ||
      table.isSource(value))
    return nullptr;
  Value leader = table.flow().leader(value);
  auto [entry, fresh] = values.try_emplace(leader);
  if (!fresh)
    return entry->second.get();
  entry->second = std::make_unique<ValueNode>();
  ValueNode &node = *entry->second;
  node.space = &costs.spaceOf(leader);
  Layout layout = isFixed(leader) ? table.annotated(leader) : table.get(leader);
  node.layouts.push_back(node.space->number(layout));
  if (isFixed(leader))
    node.fixed = node.layouts.front();
  return &node;
}

bool LayoutQuestion::mayHave(Value leader, const Layout &layout) const {
  const LayoutEntry &entry = table.entryOf(leader);
  auto isBarred = [&](const SubAxis &axis) {
    return llvm::any_of(entry.forbiddenAxes,
                        [&](const SubAxis &x) { return overlaps(x, axis); });
  };
  if (layout.part != entry.layout.part)
    return false;
  for (const SubAxes &dim : layout.dims)
    if (llvm::any_of(dim, isBarred))
      return false;
  return table.mayCarry(leader, layout);
}

void LayoutQuestion::addLayout(ValueNode &value, Value leader,
                               unsigned layout) {
  if (!llvm::is_contained(value.layouts, layout) &&
      mayHave(leader, value.space->layout(layout)))
    value.layouts.push_back(layout);
}

void LayoutQuestion::listChoices(unsigned op, const OpSharding &now) {
  const OpWithRule &whole = table.ops()[op];
  for (auto [index, piece] : llvm::enumerate(whole.pieces())) {
    OpSharding share = whole.parts.empty() ? now : shareOf(piece, whole, now);
    pieces.push_back({op, unsigned(index), 0, &opChoices.of(piece, share)});
    listLayouts(pieces.back());
  }
}

/// Adds the layouts that a piece's choices produce and require to the labels of
/// its values. A fixed value has labels for what its uses require.
void LayoutQuestion::listLayouts(const PieceNode &node) {
  const OpWithRule &piece = pieceOf(node);
  for (unsigned tensor = 0; tensor < piece.numTensors(); ++tensor) {
    ValueNode *known = find(piece.value(tensor));
    if (!known)
      continue;
    Value leader = table.flow().leader(piece.value(tensor));
    bool isUse = piece.isOperand(tensor);
    known->uses += isUse;
    if (known->fixed && !isUse)
      continue;
    // Summands stay summands for uses that pass them on.
    bool keeps = isUse && !known->fixed &&
                 table.flow().members(leader).empty() &&
                 !llvm::is_contained(piece.rule.inits, tensor);
    const ChoiceList::Tensor &own = node.list->tensors[tensor];
    for (unsigned layout : keeps ? own.layouts : own.reduced)
      addLayout(*known, leader, layout);
  }
}

void LayoutQuestion::listFlow(unsigned op) {
  Operation *user = table.ops()[op].op;
  for (Value value : user->getOperands())
    if (ValueNode *node = find(value))
      ++node->uses;
}

void LayoutQuestion::shareLayouts() {
  auto share = [&](OpOperand &operand) {
    Value target = table.flow().target(operand);
    ValueNode *from = target ? find(operand.get()) : nullptr;
    ValueNode *to = target ? find(target) : nullptr;
    if (!from || !to || from == to || from->space != to->space)
      return false;
    size_t before = from->layouts.size() + to->layouts.size();
    auto give = [&](const ValueNode &giver, ValueNode &taker, Value value) {
      if (!taker.fixed)
        for (unsigned layout : std::vector<unsigned>(giver.layouts))
          addLayout(taker, table.flow().leader(value), layout);
    };
    give(*from, *to, target);
    give(*to, *from, operand.get());
    return from->layouts.size() + to->layouts.size() > before;
  };
  // Loops in loops pass labels on in as many rounds.
  constexpr unsigned kRounds = 4;
  bool isChanged = true;
  for (unsigned round = 0; round < kRounds && isChanged; ++round) {
    isChanged = false;
    for (unsigned number = 0; number < table.ops().size(); ++number) {
      const OpWithRule &its = table.ops()[number];
      if (!isRuled(number) && !its.source)
        for (OpOperand &operand : its.op->getOpOperands())
          isChanged |= share(operand);
    }
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void LayoutQuestion::addValue(Value value) {
  ValueNode *node = find(value);
  if (!node || node->node)
    return;
  // A copy of a fixed value serves several uses.
  if (node->fixed && node->uses < 2)
    node->layouts.resize(1);
  std::vector<int64_t> own;
  int64_t share = memory.held ? memory.held->shareOf(value) : 0;
  for (unsigned layout : node->layouts)
    own.push_back(
        node->fixed ? costs.cost(*node->space, *node->fixed, layout,
                                 {.original = node->fixed, .heldShare = share})
                    : costs.heldCost(*node->space, layout, share));
  node->node = choices.addNode(std::move(own));
  first.push_back(0);
}

void LayoutQuestion::addPiece(PieceNode &node) {
  int64_t times = table.executionsOf(node.op);
  std::vector<int64_t> own;
  for (const Price &rest : node.list->rest)
    own.push_back(costOf(rest, times));
  int64_t least = *llvm::min_element(own);
  for (auto [label, cost] : llvm::enumerate(own))
    // A choice that differs from the one so far has to save something.
    cost = cost - least + (label != 0);
  node.node = choices.addNode(std::move(own));
  first.push_back(0);
}

void LayoutQuestion::addOp(unsigned op, size_t &piece) {
  Operation *at = table.ops()[op].op;
  for (OpOperand &operand : at->getOpOperands()) {
    addValue(operand.get());
    // Perhaps no op uses what the operand becomes.
    if (Value target = table.flow().target(operand))
      addValue(target);
  }
  for (; piece < pieces.size() && pieces[piece].op == op; ++piece)
    addPiece(pieces[piece]);
  llvm::for_each(at->getResults(), [&](Value value) { addValue(value); });
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

static std::vector<unsigned> identity(size_t count) {
  return std::vector<unsigned>(llvm::seq<unsigned>(0, count).begin(),
                               llvm::seq<unsigned>(0, count).end());
}

/// The kind of movement from an operand to its use, or from a result to its
/// value, with the restrictions on it.
MoveKind LayoutQuestion::moveKindOf(const PieceNode &node, unsigned tensor,
                                    const ValueNode &value) const {
  const OpWithRule &piece = pieceOf(node);
  if (!piece.isOperand(tensor))
    return {.times = table.executionsOf(node.op), .keepsSums = true};
  return {.times = table.executionsOfMove(piece.value(tensor), node.op),
          .keepsSums = !llvm::is_contained(piece.rule.inits, tensor),
          .original = value.fixed,
          .heldShare = memory.held ? memory.held->shareAt(piece.op) : 0};
}

void LayoutQuestion::addUse(const PieceNode &node, unsigned tensor) {
  const OpWithRule &piece = pieceOf(node);
  ValueNode *value = find(piece.value(tensor));
  if (!value)
    return;
  const ChoiceList::Tensor &own = node.list->tensors[tensor];
  MoveKind kind = moveKindOf(node, tensor, *value);
  choices.addEdge(
      *value->node, identity(value->layouts.size()), node.node, own.placeOf,
      costs.tableOf(*value->space, value->layouts, own.layouts, kind));
}

void LayoutQuestion::addResult(const PieceNode &node, unsigned tensor) {
  const OpWithRule &piece = pieceOf(node);
  ValueNode *value = find(piece.value(tensor));
  if (!value)
    return;
  MoveKind kind = moveKindOf(node, tensor, *value);
  const ChoiceList::Tensor &own = node.list->tensors[tensor];
  if (value->fixed) {
    for (auto [label, place] : llvm::enumerate(own.placeOf))
      choices.addCost(
          node.node, label,
          costs.cost(*value->space, own.layouts[place], *value->fixed, kind));
    return;
  }
  choices.addEdge(
      node.node, own.placeOf, *value->node, identity(value->layouts.size()),
      costs.tableOf(*value->space, own.layouts, value->layouts, kind));
}

void LayoutQuestion::addEdges(const PieceNode &node) {
  const OpWithRule &piece = pieceOf(node);
  llvm::SmallPtrSet<const void *, 4> seen;
  for (unsigned tensor = 0; tensor < piece.numTensors(); ++tensor) {
    if (!piece.isOperand(tensor))
      addResult(node, tensor);
    // x * x needs x once.
    else if (seen.insert(piece.value(tensor).getAsOpaquePointer()).second)
      addUse(node, tensor);
  }
}

void LayoutQuestion::addStated(Value value, const Layout &wanted,
                               int64_t times) {
  ValueNode *node = find(value);
  if (!node)
    return;
  unsigned to = node->space->number(wanted);
  for (auto [label, layout] : llvm::enumerate(node->layouts))
    choices.addCost(*node->node, label,
                    costs.cost(*node->space, layout, to,
                               {.times = times, .original = node->fixed}));
}

void LayoutQuestion::addFlow(OpOperand &operand, Value target, int64_t times) {
  ValueNode *from = find(operand.get()), *to = find(target);
  if (!from || !to || from == to)
    return;
  if (to->fixed)
    return addStated(operand.get(), table.get(target), times);
  if (from->space != to->space)
    return;
  choices.addEdge(*from->node, identity(from->layouts.size()), *to->node,
                  identity(to->layouts.size()),
                  costs.tableOf(*from->space, from->layouts, to->layouts,
                                {.times = times, .original = from->fixed}));
}

void LayoutQuestion::addBorder(unsigned op) {
  const OpWithRule &border = table.ops()[op];
  int64_t times = table.executionsOf(op);
  OpSharding stated = table.borderSharding(border);
  for (OpOperand &operand : border.op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    Value target = table.flow().target(operand);
    if (target && table.knows(target))
      addFlow(operand, target, times);
    else
      addStated(operand.get(), stated.operands[index], times);
  }
}

/// The pairs of layouts that are planned at most. The conflicts of a small program
/// are resolved well one by one, and a plan over four axes and more takes about
/// five times as long.
static size_t mostPairs(const LayoutTable &table) {
  constexpr size_t kLeast = 50'000, kForEachOp = 100, kFewAxes = 3;
  size_t most = std::max(kLeast, kForEachOp * table.ops().size());
  return table.mesh().axes.size() > kFewAxes ? most / 5 : most;
}

LayoutQuestion::LayoutQuestion(LayoutTable &table, ShardingPrices &pricing,
                               llvm::ArrayRef<OpSharding> now,
                               const WeighedMemory &memory)
    : table(table), memory(memory), costs(pricing),
      opChoices(table, pricing, costs) {
  costs.weighMemory(memory.femtosecondsOfByte);
  findSeenOutside();
  size_t count = table.ops().size();
  for (unsigned op = 0; op < count; ++op)
    if (isRuled(op))
      listChoices(op, now[op]);
    else if (!table.ops()[op].source)
      listFlow(op);
  shareLayouts();
  tooLarge = costs.numPairs() > mostPairs(table);
  if (tooLarge)
    return;
  size_t piece = 0;
  for (unsigned op = 0; op < count; ++op)
    addOp(op, piece);
  llvm::for_each(pieces, [&](const PieceNode &node) { addEdges(node); });
  for (unsigned op = 0; op < count; ++op)
    if (!isRuled(op) && !table.ops()[op].source)
      addBorder(op);
}

//===----------------------------------------------------------------------===//
// Answer
//===----------------------------------------------------------------------===//

std::optional<Layout>
LayoutQuestion::layoutIn(const std::vector<unsigned> &labels,
                         Value value) const {
  auto found = values.find(table.flow().leader(value));
  if (found == values.end() || found->second->fixed || !found->second->node)
    return std::nullopt;
  const ValueNode &its = *found->second;
  return withoutSummands(its.space->layout(its.layouts[labels[*its.node]]));
}

std::optional<ChoiceGraph>
LayoutQuestion::without(std::vector<unsigned> &labels, Value value) const {
  std::optional<Layout> now = layoutIn(labels, value);
  if (!now)
    return std::nullopt;
  const ValueNode &its = *values.find(table.flow().leader(value))->second;
  ChoiceGraph rest = choices;
  bool isAny = false;
  for (auto [label, layout] : llvm::enumerate(its.layouts))
    if (withoutSummands(its.space->layout(layout)) == *now) {
      rest.addCost(*its.node, label, kForbidden);
    } else if (choices.costs(*its.node)[label] != kForbidden) {
      isAny = true;
      labels[*its.node] = label;
    }
  return isAny ? std::optional(std::move(rest)) : std::nullopt;
}

LayoutQuestion::Changes
LayoutQuestion::apply(const std::vector<unsigned> &labels,
                      std::vector<OpSharding> &shardings) {
  Changes changes;
  for (auto &[leader, its] : values) {
    const ValueNode &node = *its;
    const Layout &labelled =
        node.space->layout(node.layouts[labels[*node.node]]);
    // A value that a loop carries has no copies.
    if (!labelled.isPartial() && table.flow().members(leader).empty())
      table.entryOf(leader).copies.push_back(labelled);
    Layout layout = withoutSummands(labelled);
    if (node.fixed || layout == table.get(leader))
      continue;
    changes.push_back({leader, table.get(leader)});
    table.set(leader, layout);
  }
  for (const PieceNode &node : pieces) {
    const OpWithRule &op = table.ops()[node.op];
    const OpSharding &choice = node.list->choices[labels[node.node]];
    if (op.parts.empty())
      shardings[node.op] = choice;
    else
      enterShare(pieceOf(node), op, choice, shardings[node.op]);
  }
  for (unsigned op = 0; op < table.ops().size(); ++op)
    if (isBorder(table.ops()[op]))
      shardings[op] = table.borderSharding(table.ops()[op]);
  return changes;
}
