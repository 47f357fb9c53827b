//===- LayoutPropagation.cpp - layouts spread from value to value ---------===//

#include "weft/passes/sharding/propagation/LayoutPropagation.h"

#include "weft/passes/sharding/FreeRegions.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

void LayoutPropagation::noteChanged(Value value, Changed &changed) {
  changed.push_back(value);
  auto note = [&](OpOperand &operand) {
    if (flow.target(operand))
      changedOperands[operand.getOwner()].insert(operand.getOperandNumber());
  };
  Value leader = flow.leader(value);
  ArrayRef<Value> members = flow.members(leader);
  for (Value member : members.empty() ? ArrayRef(leader) : members)
    for (OpOperand &use : member.getUses())
      note(use);
  for (OpOperand *source : flow.sources(leader))
    note(*source);
}

void LayoutPropagation::extendGroup(Value value, Changed &changed) {
  const LayoutEntry &entry = table.entryOf(value);
  if (!entry.group)
    return;
  for (Value other : table.group(entry.group)) {
    Layout before = table.entryOf(other).layout;
    if (other == value || !table.entryOf(other).extend(entry.layout))
      continue;
    noteChanged(other, changed);
    if (journal)
      journal->record({.kind = LayoutReason::Kind::SameValue,
                       .value = other,
                       .from = value},
                      before, table.entryOf(other).layout);
  }
}

void LayoutPropagation::grow(Value value, const Layout &wanted,
                             Changed &changed, Operation *by, Value like) {
  LayoutEntry *entry = table.find(value);
  if (!entry || table.isSource(value) || !entry->isOpen())
    return;
  Layout before = journal ? entry->layout : Layout();
  if (!entry->extend(wanted))
    return;
  noteChanged(value, changed);
  if (journal && like)
    journal->record({.kind = LayoutReason::Kind::SameValue,
                     .value = flow.leader(value),
                     .op = by,
                     .from = like},
                    before, entry->layout);
  extendGroup(value, changed);
}

void LayoutPropagation::update(const OpWithRule &op, const Round &round,
                               Changed &changed) {
  if (op.isReplicated)
    return;
  const Mesh &mesh = table.mesh();
  TensorLayouts layouts = table.layoutsOf(op);
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor)
    if (layouts[tensor] && !round.includes(table.entryOf(op.value(tensor))))
      layouts[tensor] = nullptr;
  if (nothingSplit(layouts))
    return;
  FactorAxes axes = mergeFactors(mesh, op, layouts);
  LayoutJournal::Snapshot before;
  if (journal)
    before = LayoutJournal::snapshotOf(layouts);
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    if (!layouts[tensor] || !table.entryOf(op.value(tensor)).isOpen())
      continue;
    Layout wanted = projectToTensor(mesh, op.rule, op.factors(tensor), axes);
    grow(op.value(tensor), wanted, changed, op.op, /*like=*/{});
  }
  if (journal)
    journal->recordRule(mesh, op, before, layouts);
}

void LayoutPropagation::updateFlow(Operation *op, const Round &round,
                                   Changed &changed) {
  auto say = [&](Value speaker, Value listener) {
    if (round.includes(table.entryOf(speaker)))
      grow(listener, table.get(speaker), changed, op, speaker);
  };
  auto listed = changedOperands.find(op);
  if (listed == changedOperands.end())
    return;
  // Those that are listed meanwhile are visited now if they come later.
  std::set<unsigned> &numbers = listed->second;
  for (auto next = numbers.begin(); next != numbers.end();) {
    unsigned number = *next;
    numbers.erase(next);
    OpOperand &operand = op->getOpOperand(number);
    Value target = flow.target(operand);
    if (table.knows(target) && !table.isSource(operand.get())) {
      say(operand.get(), target);
      say(target, operand.get());
    }
    next = numbers.upper_bound(number);
  }
}

void LayoutPropagation::updateBorder(Operation *op, const Round &round,
                                     Changed &changed) {
  auto says = dyn_cast<FixedLayoutsOpInterface>(op);
  if (!says)
    says = freeRegionEndedBy(op);
  if (!says)
    return;
  SubAxes free = says.getFreeAxes();
  auto isActive = [&](Value value) {
    const LayoutEntry *entry = table.find(value);
    return !free.empty() && !table.isSource(value) && entry &&
           round.includes(*entry);
  };
  auto meet = [&](Value outer, const Layout &said, Value inner) {
    if (isActive(outer))
      grow(inner, freeLayout(table.get(outer), said, free), changed, op, outer);
    grow(outer, isActive(inner) ? compose(said, table.get(inner)) : said,
         changed, op, inner);
  };
  Region &region = says->getRegion(0);
  for (OpOperand &operand : says->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    meet(operand.get(), says.getOperandLayout(i).getLayout(),
         region.getArgument(i));
  }
  if (free.empty())
    return;
  Operation *end = region.front().getTerminator();
  for (OpResult result : says->getResults()) {
    unsigned i = result.getResultNumber();
    meet(result, says.getResultLayout(i).getLayout(), end->getOperand(i));
  }
}

void LayoutPropagation::push(Operation *op, const Round &round,
                             Worklist &worklist) const {
  std::optional<unsigned> index = table.indexOf(op);
  if (!index)
    return;
  const OpWithRule &known = table.ops()[*index];
  bool passes = known.elementwise || flow.passesOn(op) || freeRegionOf(op) ||
                freeRegionEndedBy(op);
  if (!known.source && (passes || !round.elementwiseOnly))
    worklist.insert({!passes, *index});
}

void LayoutPropagation::pushNeighbours(Value value, const Round &round,
                                       Worklist &worklist) const {
  if (Operation *def = value.getDefiningOp())
    push(def, round, worklist);
  else if (Operation *holder = value.getParentBlock()->getParentOp();
           freeRegionOf(holder))
    push(holder, round, worklist);
  for (Operation *user : value.getUsers())
    push(user, round, worklist);
}

void LayoutPropagation::runRound(const Round &round) {
  Worklist worklist;
  for (const OpWithRule &op : table.ops()) {
    push(op.op, round, worklist);
    for (OpOperand &operand : op.op->getOpOperands())
      if (flow.target(operand))
        changedOperands[op.op].insert(operand.getOperandNumber());
  }
  while (!worklist.empty()) {
    const OpWithRule &op = table.ops()[worklist.begin()->second];
    worklist.erase(worklist.begin());
    llvm::SmallVector<Value> changed;
    update(op, round, changed);
    updateFlow(op.op, round, changed);
    updateBorder(op.op, round, changed);
    for (Value value : changed) {
      pushNeighbours(value, round, worklist);
      Value leader = flow.leader(value);
      for (Value member : flow.members(leader))
        pushNeighbours(member, round, worklist);
      for (OpOperand *source : flow.sources(leader))
        push(source->getOwner(), round, worklist);
    }
  }
}

void LayoutPropagation::closeAroundState() {
  llvm::EquivalenceClasses<void *> joined;
  for (const OpWithRule &op : table.ops()) {
    if (!op.elementwise || op.source)
      continue;
    for (const OpWithRule &piece : op.pieces()) {
      if (piece.rule.results.front().empty())
        continue;
      void *first = piece.value(piece.numOperands()).getAsOpaquePointer();
      for (unsigned tensor = 0; tensor < piece.numTensors(); ++tensor)
        if (!table.isSource(piece.value(tensor)))
          joined.unionSets(first, piece.value(tensor).getAsOpaquePointer());
    }
  }
  // A layout of the annotated values of a set, whether all of them have it, and
  // whether one of them holds state.
  struct Agreement {
    bool holdsState = false, agrees = true;
    const Layout *layout = nullptr;
  };
  llvm::DenseMap<void *, Agreement> agreements;
  auto leaderOf = [&](Value value) {
    auto it = joined.findLeader(value.getAsOpaquePointer());
    return it == joined.member_end() ? nullptr : *it;
  };
  for (auto &[value, entry] : table.all()) {
    void *leader = entry.isOpen() ? nullptr : leaderOf(value);
    if (!leader)
      continue;
    Agreement &found = agreements[leader];
    found.holdsState |= entry.isState;
    found.agrees &= !found.layout || *found.layout == entry.layout;
    found.layout = &entry.layout;
  }
  for (auto &[value, entry] : table.all()) {
    auto found = agreements.find(leaderOf(value));
    if (found == agreements.end() || !found->second.holdsState)
      continue;
    if (found->second.agrees && entry.isUnannotated() &&
        found->second.layout->part == entry.layout.part) {
      if (journal)
        journal->record({.kind = LayoutReason::Kind::State, .value = value},
                        entry.layout, *found->second.layout);
      entry.layout = *found->second.layout;
    }
    entry.fixed = true;
  }
}

/// Gives values that loops carry the layouts that results of the function are
/// annotated with, as far as nothing else has determined theirs.
void LayoutPropagation::preferResultLayouts() {
  Operation *end = table.func().getBody().front().getTerminator();
  for (OpOperand &returned : end->getOpOperands()) {
    const std::optional<Layout> &said =
        table.annotationOfResult(returned.getOperandNumber());
    LayoutEntry *entry = table.find(returned.get());
    if (!said || !entry || !table.isCarried(returned.get()))
      continue;
    Layout before = entry->layout;
    if (entry->extend(*said) && journal)
      journal->record({.value = flow.leader(returned.get()), .op = end}, before,
                      entry->layout);
  }
}

void LayoutPropagation::run() {
  std::set<int64_t> priorities{0};
  for (const auto &[value, entry] : table.all())
    priorities.insert(entry.priority);
  for (int64_t priority : priorities) {
    runRound({priority, /*withState=*/false, /*elementwiseOnly=*/false});
    runRound({priority, /*withState=*/true, /*elementwiseOnly=*/true});
    if (priority == *priorities.rbegin())
      closeAroundState();
    runRound({priority, /*withState=*/true, /*elementwiseOnly=*/false});
  }
  preferResultLayouts();
  runRound({*priorities.rbegin(), /*withState=*/true,
            /*elementwiseOnly=*/false});
  for (BlockArgument argument : table.func().getArguments())
    if (LayoutEntry *entry = table.find(argument); entry && !entry->fixed)
      entry->layout = table.asPort(entry->layout, argument.getType());
}
