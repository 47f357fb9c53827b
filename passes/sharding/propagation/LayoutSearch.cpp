//===- LayoutSearch.cpp - the cheapest layouts that were found -------------===//

#include "weft/passes/sharding/propagation/LayoutSearch.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/CountedLoop.h"
#include "weft/passes/sharding/propagation/ConflictResolution.h"
#include "weft/passes/sharding/propagation/LayoutAssignment.h"
#include "weft/passes/sharding/propagation/LayoutJournal.h"
#include "weft/passes/sharding/propagation/LayoutQuestion.h"

#include "mlir/IR/IRMapping.h"

using namespace weft;
using namespace mlir;

Price weft::priceAssigned(const LayoutTable &table,
                          const std::vector<OpSharding> &shardings) {
  IRMapping mapping;
  OwningOpRef<func::FuncOp> copy(
      cast<func::FuncOp>(table.func()->clone(mapping)));
  LayoutTable copied = table.of(*copy, mapping);
  Price total;
  ShardingPrices pricing(table.mesh());
  for (auto [index, op] : llvm::enumerate(table.ops()))
    if (!op.source && !isBorder(op)) {
      TensorLayouts none(op.numTensors());
      total = plusTimes(total, pricing.of(op, shardings[index], none).rest,
                        table.executionsOf(index));
    }
  LayoutAssignment(*copy, copied, shardings).run();
  ReshardCost cost(table.mesh());
  copy->walk([&](ReshardOp reshard) {
    total = plusTimes(total, cost.of(reshard), executionsAround(reshard));
  });
  return total;
}

/// The op whose result the value is, or in whose region it is an argument.
static Operation *makerOf(Value value) {
  Operation *def = value.getDefiningOp();
  return def ? def : value.getParentBlock()->getParentOp();
}

/// Steps that are tried for the plan of a move in the question, which has
/// thousands. What is taken is priced with the whole budget.
static constexpr int64_t kStepsOfMove = 100;
/// The devices of the largest mesh whose layouts are solved: the time of a plan
/// grows with them.
static constexpr int64_t kMostDevices = 512;

void LayoutSearch::solve(std::vector<OpSharding> &shardings) {
  ShardingPrices pricing(table.mesh(), {.searchBudget = kStepsOfMove});
  LayoutQuestion question(table, pricing, shardings);
  if (question.isTooLarge())
    return;
  Solution solution = weft::solve(question.graph(), question.start());
  int64_t startCost = question.graph().costOf(question.start());
  found = {inPicoseconds(startCost), inPicoseconds(solution.bound)};
  if (solution.labels == question.start())
    return;
  Price before = priceAssigned(table, shardings);
  std::vector<OpSharding> solved = shardings;
  LayoutQuestion::Changes changes = question.apply(solution.labels, solved);
  Price after = priceAssigned(table, solved);
  if (!movesLess(after, before) || after.bytes > before.bytes) {
    for (const LayoutQuestion::Change &change : changes)
      table.set(change.value, change.before);
    return;
  }
  shardings = std::move(solved);
  found->price = inPicoseconds(solution.cost);
  if (LayoutJournal *journal = table.kept())
    for (const LayoutQuestion::Change &change : changes)
      journal->record({.kind = LayoutReason::Kind::Price,
                       .value = change.value,
                       .op = makerOf(change.value),
                       .saved = before - after},
                      change.before, table.get(change.value));
}

std::vector<OpSharding> LayoutSearch::run() {
  bool solves = table.mesh().size() <= kMostDevices;
  ConflictResolution resolution(table);
  bool isOpen = resolution.run(/*isAlone=*/!solves);
  numConflicts = resolution.conflicts();
  std::vector<OpSharding> shardings = resolution.takeShardings();
  if (isOpen && solves)
    solve(shardings);
  return shardings;
}
