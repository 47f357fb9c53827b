//===- ConflictResolution.cpp - the cheaper side of each conflict ------------===//

#include "weft/passes/sharding/propagation/ConflictResolution.h"

#include "weft/base/Saturating.h"
#include "weft/passes/sharding/FreeRegions.h"
#include "weft/passes/sharding/propagation/LayoutJournal.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

ConflictResolution::ConflictResolution(LayoutTable &table)
    : table(table), pricing(table.mesh(), table.rates()),
      chosen(table.ops().size()), prices(table.ops().size()),
      inConflict(table.ops().size()) {}

unsigned ConflictResolution::conflicts() const { return inConflict.count(); }

//===----------------------------------------------------------------------===//
// Choices and prices of single ops
//===----------------------------------------------------------------------===//

void ConflictResolution::choose(unsigned index) {
  const OpWithRule &op = table.ops()[index];
  OpSharding &sharding = chosen[index];
  if (isBorder(op)) {
    sharding = table.borderSharding(op);
    return;
  }
  bool conflict = false;
  sharding =
      chooseSharding(table.mesh(), op, table.layoutsOf(op), pricing, conflict);
  inConflict[index] = conflict;
}

const OpPrice &ConflictResolution::price(unsigned index) {
  std::optional<OpPrice> &known = prices[index];
  if (known)
    return *known;
  const OpWithRule &op = table.ops()[index];
  TensorLayouts layouts = table.layoutsOf(op);
  if (!isBorder(op))
    return known.emplace(pricing.of(op, chosen[index], layouts));
  OpPrice &price = known.emplace();
  for (auto [operand, wanted] : llvm::enumerate(chosen[index].operands))
    price.operands.push_back(
        layouts[operand]
            ? pricing.move(op.value(operand), *layouts[operand], wanted)
            : Price());
  return price;
}

void ConflictResolution::forget(llvm::ArrayRef<unsigned> ops) {
  for (unsigned op : ops) {
    prices[op].reset();
    choose(op);
  }
}

Price weft::plusTimes(const Price &sum, const Price &price, int64_t times) {
  auto add = [times](int64_t a, int64_t b) {
    return saturatingAdd(a, saturatingMultiply(b, times));
  };
  return {add(sum.moving, price.moving), add(sum.waiting, price.waiting),
          add(sum.bytes, price.bytes)};
}

Price ConflictResolution::totalPrice(llvm::ArrayRef<unsigned> ops) {
  llvm::DenseMap<Value, llvm::SmallVector<const Layout *, 2>> arrived;
  Price total;
  for (unsigned index : ops) {
    const OpPrice &one = price(index);
    int64_t times = table.executionsOf(index);
    total = plusTimes(total, one.rest + one.work + one.results, times);
    for (auto [operand, cost] : llvm::enumerate(one.operands)) {
      if (cost == Price())
        continue;
      const Layout &wanted = chosen[index].operands[operand];
      auto &known = arrived[table.ops()[index].value(operand)];
      if (llvm::any_of(known, [&](const Layout *l) { return *l == wanted; }))
        continue;
      known.push_back(&wanted);
      Value value = table.ops()[index].value(operand);
      total = plusTimes(total, cost, table.executionsOfMove(value, index));
    }
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Attempts
//===----------------------------------------------------------------------===//

ConflictResolution::Ops ConflictResolution::around(Value value,
                                                   size_t most) const {
  Ops ops;
  auto add = [&](Operation *op) {
    if (auto index = table.indexOf(op); index && !table.ops()[*index].source)
      ops.push_back(*index);
  };
  auto addAround = [&](Value one) {
    if (Operation *def = one.getDefiningOp())
      add(def);
    for (Operation *user : one.getUsers()) {
      if (ops.size() >= most)
        break;
      add(user);
    }
  };
  const RegionFlow &flow = table.flow();
  Value leader = flow.leader(value);
  if (flow.members(leader).empty())
    addAround(value);
  llvm::for_each(flow.members(leader), addAround);
  for (OpOperand *source : flow.sources(leader))
    add(source->getOwner());
  return ops;
}

ConflictResolution::Ops ConflictResolution::concerned() const {
  Ops ops;
  for (const Change &change : changes)
    ops.append(around(change.value));
  llvm::sort(ops);
  ops.erase(llvm::unique(ops), ops.end());
  return ops;
}

void ConflictResolution::change(Value value, const Layout &wanted) {
  Value leader = table.flow().leader(value);
  if (!table.isFree(value))
    return;
  // A use on another part of the mesh does not move the value there.
  Layout layout = onPart(wanted, table.get(leader).part);
  if (table.get(leader) == layout || changed.contains(leader) ||
      !table.mayCarry(leader, layout))
    return;
  changed.insert(leader);
  changes.push_back({leader, table.get(leader), layout});
  table.set(leader, layout);
}

static bool usesAnAxisTwice(const FactorAxes &axes) {
  SubAxes seen;
  for (const SubAxes &list : axes)
    for (const SubAxis &axis : list) {
      if (llvm::any_of(seen,
                       [&](const SubAxis &x) { return overlaps(x, axis); }))
        return true;
      seen.push_back(axis);
    }
  return false;
}

/// Returns `mine` with new axes for the factors of tensor `to`: axes that
/// tensor `from` had before (`was`) become those that it has now (`is`).
static FactorAxes followed(const OpWithRule &op, unsigned from, unsigned to,
                           const FactorAxes &was, const FactorAxes &is,
                           FactorAxes mine) {
  FactorAxes next = mine;
  for (const DimFactors &dim : op.factors(to))
    for (unsigned factor : dim) {
      bool shared = llvm::any_of(op.factors(from), [&](const DimFactors &d) {
        return llvm::is_contained(d, factor);
      });
      if (shared && mine[factor] == was[factor])
        next[factor] = is[factor];
    }
  return next;
}

void ConflictResolution::followPiece(const OpWithRule &piece,
                                     const Change &change) {
  const Mesh &mesh = table.mesh();
  const RegionFlow &flow = table.flow();
  unsigned from = 0;
  while (from < piece.numTensors() &&
         flow.leader(piece.value(from)) != change.value)
    ++from;
  if (from == piece.numTensors())
    return;
  FactorAxes was = piece.project(mesh, from, change.before);
  FactorAxes is = piece.project(mesh, from, change.after);
  for (unsigned to = 0; to < piece.numTensors(); ++to) {
    Value value = piece.value(to);
    if (changed.contains(flow.leader(value)) || !table.isFree(value))
      continue;
    const Layout &now = table.get(value);
    FactorAxes mine = piece.project(mesh, to, now);
    FactorAxes next = followed(piece, from, to, was, is, mine);
    if (next == mine || usesAnAxisTwice(next) ||
        projectToTensor(mesh, piece.rule, piece.factors(to), mine).dims !=
            now.dims)
      continue;
    this->change(value,
                 normalise(mesh, projectToTensor(mesh, piece.rule,
                                                 piece.factors(to), next)));
  }
}

void ConflictResolution::follow(const OpWithRule &op, const Change &change) {
  if (isBorder(op))
    return followFlow(op.op, change);
  for (const OpWithRule &piece : op.pieces())
    followPiece(piece, change);
}

void ConflictResolution::followFlow(Operation *op, const Change &change) {
  const RegionFlow &flow = table.flow();
  auto pass = [&](Value from, Value to) {
    if (from == change.value && table.knows(to) &&
        table.get(to) == change.before)
      this->change(to, change.after);
  };
  for (OpOperand &operand : op->getOpOperands())
    if (Value target = flow.target(operand)) {
      Value source = flow.leader(operand.get());
      pass(source, target);
      pass(target, source);
    }
}

/// The layout that the sharding gives a tensor, after its sums are reduced.
static Layout withoutPartials(const OpSharding &sharding, const OpWithRule &op,
                              unsigned tensor) {
  Layout layout = op.isOperand(tensor)
                      ? sharding.operands[tensor]
                      : sharding.results[tensor - op.numOperands()];
  layout.partial.clear();
  layout.reduce = ReduceKind::Sum;
  return layout;
}

bool ConflictResolution::disagrees(const OpWithRule &op,
                                   const OpSharding &sharding) const {
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    Value value = op.value(tensor);
    if (table.isFree(value) &&
        withoutPartials(sharding, op, tensor).dims != table.get(value).dims)
      return true;
  }
  return false;
}

bool ConflictResolution::wantsOtherwise(const OpWithRule &op,
                                        unsigned operand) const {
  Value value = op.value(operand);
  const OpSharding &sharding = chosen[*table.indexOf(op.op)];
  return operand < sharding.operands.size() && table.isFree(value) &&
         sharding.operands[operand].dims != table.get(value).dims;
}

bool ConflictResolution::becomesOther(const OpWithRule &op,
                                      unsigned operand) const {
  OpOperand &use = op.op->getOpOperand(operand);
  Value target = table.flow().target(use);
  return target && table.knows(target) && table.isFree(target) &&
         !table.isSource(use.get()) &&
         table.get(target).dims != table.get(use.get()).dims;
}

/// Whether the op finds elements that other devices hold, which a sum brings.
static bool looksUpShards(const OpWithRule &op, const OpSharding &sharding) {
  return llvm::any_of(llvm::zip(op.rule.factors, sharding.axes),
                      [](auto factor) {
                        const auto &[its, axes] = factor;
                        return its.kind == FactorKind::Lookup && !axes.empty();
                      });
}

bool ConflictResolution::isOpen(unsigned index) {
  const OpWithRule &op = table.ops()[index];
  if (op.source)
    return false;
  if (!isBorder(op))
    return inConflict[index] || disagrees(op, chosen[index]) ||
           price(index).rest.bytes > 0 || looksUpShards(op, chosen[index]);
  auto operands = llvm::seq(op.op->getNumOperands());
  return llvm::any_of(operands, [&](unsigned i) {
    return wantsOtherwise(op, i) || becomesOther(op, i);
  });
}

ConflictResolution::Settlement
ConflictResolution::attemptSharding(const OpWithRule &piece,
                                    const FactorAxes &axes, size_t limit) {
  OpSharding sharding = applyAxes(table.mesh(), piece, axes);
  if (!disagrees(piece, sharding))
    return {};
  for (unsigned tensor = 0; tensor < piece.numTensors(); ++tensor)
    change(piece.value(tensor), withoutPartials(sharding, piece, tensor));
  return followChanges(limit);
}

ConflictResolution::Settlement
ConflictResolution::attemptOperand(unsigned index, unsigned operand,
                                   size_t limit) {
  const OpWithRule &op = table.ops()[index];
  if (!wantsOtherwise(op, operand))
    return {};
  change(op.value(operand), chosen[index].operands[operand]);
  return followChanges(limit);
}

ConflictResolution::Settlement
ConflictResolution::attemptTarget(unsigned index, unsigned operand,
                                  size_t limit) {
  const OpWithRule &op = table.ops()[index];
  if (!becomesOther(op, operand))
    return {};
  OpOperand &use = op.op->getOpOperand(operand);
  change(table.flow().target(use), table.get(use.get()));
  return followChanges(limit);
}

ConflictResolution::Settlement ConflictResolution::followChanges(size_t limit) {
  for (size_t at = 0; at < changes.size() && changes.size() < limit; ++at) {
    Change speaker = changes[at];
    for (unsigned other : around(speaker.value))
      follow(table.ops()[other], speaker);
  }
  Ops ops = concerned();
  for (const Change &change : changes)
    table.set(change.value, change.before);
  Price before = totalPrice(ops);
  for (const Change &change : changes)
    table.set(change.value, change.after);
  forget(ops);
  Settlement settlement;
  settlement.saved = before - totalPrice(ops);
  for (const Change &change : changes)
    table.set(change.value, change.before);
  forget(ops);
  settlement.changes = std::move(changes);
  changes.clear();
  changed.clear();
  return settlement;
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

static llvm::hash_code hashAxes(const SubAxes &axes) {
  llvm::hash_code hash = llvm::hash_value(axes.size());
  for (const SubAxis &sub : axes)
    hash = llvm::hash_combine(hash, sub.axis, sub.skip, sub.size);
  return hash;
}

/// The hash of an op's name, and of its tensors: their shapes and layouts, and
/// whether they are free.
llvm::hash_code ConflictResolution::hashOp(const OpWithRule &op) const {
  llvm::hash_code hash = llvm::hash_value(op.op->getName().getStringRef());
  TensorLayouts layouts = table.layoutsOf(op);
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    Value value = op.value(tensor);
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t size : type.getShape())
        hash = llvm::hash_combine(hash, size);
    if (layouts[tensor])
      for (const SubAxes &dim : layouts[tensor]->dims)
        hash = llvm::hash_combine(hash, hashAxes(dim));
    hash = llvm::hash_combine(hash, table.isFree(value));
  }
  return hash;
}

size_t ConflictResolution::hashSurroundings(const OpWithRule &op) const {
  llvm::hash_code hash = hashOp(op);
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor)
    for (unsigned other : around(op.value(tensor), /*most=*/8))
      hash = llvm::hash_combine(hash, hashOp(table.ops()[other]));
  return hash;
}

bool ConflictResolution::adopt(Settlement settlement, unsigned op) {
  if (!movesLess(Price(), settlement.saved))
    return false;
  changes = std::move(settlement.changes);
  for (const Change &change : changes) {
    table.set(change.value, change.after);
    if (LayoutJournal *journal = table.kept())
      journal->record({.kind = LayoutReason::Kind::Price,
                       .value = change.value,
                       .op = table.ops()[op].op,
                       .saved = settlement.saved},
                      change.before, change.after);
  }
  forget(concerned());
  changes.clear();
  return true;
}

bool ConflictResolution::settleBorder(unsigned index, size_t limit) {
  bool settled = false;
  for (unsigned i = 0; i < table.ops()[index].op->getNumOperands(); ++i) {
    settled |= adopt(attemptOperand(index, i, limit), index);
    settled |= adopt(attemptTarget(index, i, limit), index);
  }
  return settled;
}

bool ConflictResolution::settleOp(unsigned index, size_t limit) {
  const OpWithRule &op = table.ops()[index];
  bool settled = false;
  for (const OpWithRule &piece : op.pieces()) {
    bool conflict = false;
    Settlement best;
    for (const FactorAxes &axes :
         listCandidates(table.mesh(), piece,
                        layoutsOf(piece, table.layoutsOf(op)), conflict)) {
      Settlement next = attemptSharding(piece, axes, limit);
      if (movesLess(best.saved, next.saved))
        best = std::move(next);
    }
    settled |= adopt(std::move(best), index);
  }
  return settled;
}

bool ConflictResolution::settle(unsigned index, size_t limit) {
  const OpWithRule &op = table.ops()[index];
  if (!isOpen(index))
    return false;
  // The most failed tries for equal surroundings, since all layers have the
  // same conflicts.
  constexpr unsigned kTries = 3;
  unsigned &tries = inVain[hashSurroundings(op)];
  if (tries == kTries)
    return false;
  bool settled =
      isBorder(op) ? settleBorder(index, limit) : settleOp(index, limit);
  tries = settled ? 0 : tries + 1;
  return settled;
}

unsigned ConflictResolution::sweep(size_t limit) {
  unsigned settled = 0;
  for (unsigned op = 0; op < table.ops().size(); ++op)
    settled += settle(op, limit);
  return settled;
}

bool ConflictResolution::chooseAll() {
  open = 0;
  for (unsigned op = 0; op < table.ops().size(); ++op) {
    choose(op);
    open += isOpen(op);
  }
  return open > 0;
}

void ConflictResolution::resolve() {
  constexpr size_t kSweeps = 2, kFew = 64, kMany = 512;
  size_t limit = std::clamp(16 * table.ops().size() / std::max<size_t>(open, 1),
                            kFew, kMany);
  for (size_t i = 0; i < kSweeps && sweep(limit) > 0; ++i)
    inVain.clear();
}
