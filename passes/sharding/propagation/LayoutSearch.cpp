//===- LayoutSearch.cpp - the cheapest layouts that were found -------------===//

#include "weft/passes/sharding/propagation/LayoutSearch.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/CountedLoop.h"
#include "weft/passes/sharding/propagation/ConflictResolution.h"
#include "weft/passes/sharding/propagation/LayoutAssignment.h"
#include "weft/passes/sharding/propagation/LayoutJournal.h"

#include "mlir/IR/IRMapping.h"

#include <set>
#include <utility>

using namespace weft;
using namespace mlir;

/// The price of the fetches of an assigned op that an earlier one has made.
static Price
repeatedFetches(const OpWithRule &op, const OpSharding &sharding,
                ShardingPrices &pricing,
                std::set<std::pair<const void *, std::vector<int64_t>>> &made) {
  Price repeated;
  for (const OpWithRule &piece : op.pieces()) {
    OpSharding share =
        op.parts.empty() ? sharding : shareOf(piece, op, sharding);
    for (OperandFetch &fetch : pricing.fetches(piece, share)) {
      Value value = piece.value(fetch.operand);
      if (!made.insert({value.getAsOpaquePointer(), std::move(fetch.positions)})
               .second)
        repeated = repeated + fetch.price;
    }
  }
  return repeated;
}

LogicalResult weft::emitUnknownTarget(Operation *op, StringRef target) {
  return op->emitError("target '")
         << target << "' has no row of rates by which layouts are priced; "
         << "known are " << familiesOfRates();
}

Price weft::priceAssigned(const LayoutTable &table,
                          const std::vector<OpSharding> &shardings,
                          const std::vector<OpSharding> &start) {
  IRMapping mapping;
  OwningOpRef<func::FuncOp> copy(
      cast<func::FuncOp>(table.func()->clone(mapping)));
  LayoutTable copied = table.of(*copy, mapping);
  LayoutAssignment(*copy, copied, shardings).run();
  Price total;
  ShardingPrices pricing(table.mesh(), table.rates());
  std::set<std::pair<const void *, std::vector<int64_t>>> fetched;
  for (auto [index, op] : llvm::enumerate(table.ops()))
    if (!op.source && !isBorder(op)) {
      TensorLayouts none(op.numTensors());
      OpPrice price = pricing.of(op, shardings[index], none);
      Price work =
          workBeside(price.work, pricing.of(op, start[index], none).work);
      Price again = repeatedFetches(copied.ops()[index], shardings[index],
                                    pricing, fetched);
      total = plusTimes(total, price.rest - again + work,
                        table.executionsOf(index));
    }
  ReshardCost cost(table.mesh());
  copy->walk([&](ReshardOp reshard) {
    total =
        plusTimes(total, cost.of(reshard),
                  copied.flow().executionsOfMove(reshard.getInput(), reshard,
                                                 executionsAround(reshard)));
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
/// The ops of the largest function whose conflicts are also resolved one by one.
/// The streams of a larger one are longer than what a resolution follows.
static constexpr size_t kMostResolved = 1'000;

/// Whether the price is lower by bytes, then by time.
static bool sendsLess(const Price &a, const Price &b) {
  return a.bytes < b.bytes || (a.bytes == b.bytes && movesLess(a, b));
}

Price LayoutSearch::priceOf(const std::vector<OpSharding> &shardings) const {
  return priceAssigned(table, shardings, start);
}

/// The time of all work of the table's function on one device.
static Price workOfOne(const LayoutTable &table) {
  ShardingPrices pricing(table.mesh(), table.rates());
  Price total;
  for (auto [index, op] : llvm::enumerate(table.ops()))
    if (!op.source && !isBorder(op))
      total =
          plusTimes(total, pricing.workOfOne(op), table.executionsOf(index));
  return total;
}

TargetRates LayoutSearch::ratesToSolve() const {
  constexpr double kNegligible = 1024;
  TargetRates rates = table.rates();
  SubAxes all = allAxes(table.mesh());
  if (workOfOne(table).moving <
      femtoseconds(slowestLink(table.mesh(), all).latency))
    rates.iterations *= kNegligible;
  return rates;
}

WeighedMemory LayoutSearch::weighed(const HeldMemory &held) const {
  constexpr double kUnit = 1024, kFemtoseconds = 1e15;
  Link link = slowestLink(table.mesh(), allAxes(table.mesh()));
  return {&held, double(memoryWeight) / kUnit * link.moving(1) * kFemtoseconds};
}

std::optional<LayoutSearch::Proposal> LayoutSearch::solve() {
  if (table.mesh().size() > kMostDevices)
    return std::nullopt;
  ShardingPrices pricing(table.mesh(), ratesToSolve(),
                         {.searchBudget = kStepsOfMove});
  std::optional<HeldMemory> held;
  if (memoryWeight > 0)
    held.emplace(table);
  LayoutQuestion question(table, pricing, start,
                          held ? weighed(*held) : WeighedMemory());
  if (question.isTooLarge())
    return std::nullopt;
  Solution solution = weft::solve(question.graph(), question.start());
  found = {inPicoseconds(solution.cost), inPicoseconds(solution.bound)};
  compare(question, solution);
  Proposal best = proposalOf(question, solution.labels);
  if (!solution.passed.empty() && memoryWeight == 0) {
    // The cheaper choice may repeat less work, and send more for it.
    Proposal passed = proposalOf(question, solution.passed);
    if (sendsLess(passed.price, best.price))
      best = std::move(passed);
  }
  return best;
}

LayoutSearch::Proposal
LayoutSearch::proposalOf(LayoutQuestion &question,
                         const std::vector<unsigned> &labels) {
  std::vector<OpSharding> shardings = start;
  LayoutTable::Entries before = table.all();
  question.apply(labels, shardings);
  Price price = priceOf(shardings);
  std::swap(table.all(), before);
  return {std::move(shardings), std::move(before), price};
}

bool LayoutSearch::describe() {
  ConflictResolution resolution(table);
  resolution.chooseAll();
  start = resolution.shardings();
  if (table.mesh().size() > kMostDevices)
    return false;
  ShardingPrices pricing(table.mesh(), ratesToSolve(),
                         {.searchBudget = kStepsOfMove});
  LayoutQuestion question(table, pricing, start);
  if (question.isTooLarge())
    return false;
  Solution solution = weft::solve(question.graph(), question.start());
  found = {inPicoseconds(solution.cost), inPicoseconds(solution.bound)};
  question.describe(solution.labels);
  return true;
}

void LayoutSearch::compare(const LayoutQuestion &question,
                           const Solution &solution) {
  for (auto [value, other] : llvm::zip_equal(asked, others)) {
    std::vector<unsigned> from = solution.labels;
    std::optional<ChoiceGraph> rest = question.without(from, value);
    if (!rest)
      continue;
    Solution next = weft::solve(*rest, from);
    if (next.cost != kForbidden)
      other = {*question.layoutIn(solution.labels, value),
               *question.layoutIn(next.labels, value),
               inPicoseconds(next.cost)};
  }
}

void LayoutSearch::take(const Proposal &solved) {
  LayoutJournal *journal = table.kept();
  Price saved = journal ? priceOf(start) - solved.price : Price();
  LayoutTable::Entries before = std::exchange(table.all(), solved.layouts);
  if (!journal)
    return;
  llvm::SmallPtrSet<const void *, 32> seen;
  for (const OpWithRule &op : table.ops())
    for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
      Value value = table.flow().leader(op.value(tensor));
      auto entry = before.find(value);
      if (entry == before.end() ||
          !seen.insert(value.getAsOpaquePointer()).second)
        continue;
      journal->record({.kind = LayoutReason::Kind::Price,
                       .value = value,
                       .op = makerOf(value),
                       .saved = saved},
                      entry->second.layout, table.get(value));
    }
}

void LayoutSearch::dropOthers() {
  for (auto [value, other] : llvm::zip_equal(asked, others))
    if (other && other->chosen != table.get(value))
      other.reset();
}

std::vector<OpSharding> LayoutSearch::run() {
  ConflictResolution resolution(table);
  bool isOpen = resolution.chooseAll();
  numConflicts = resolution.conflicts();
  others.assign(asked.size(), std::nullopt);
  start = resolution.shardings();
  if (!isOpen && memoryWeight == 0)
    return start;
  std::optional<Proposal> solved = solve();
  unproved = !solved;
  if (solved && memoryWeight > 0) {
    // Price and bound are not those of movements alone.
    found.reset();
    unproved = true;
    take(*solved);
    return std::move(solved->shardings);
  }
  LayoutTable::Entries before = table.all();
  LayoutJournal *journal = table.kept();
  LayoutJournal notes = journal ? *journal : LayoutJournal();
  if (!solved || table.ops().size() <= kMostResolved)
    resolution.resolve();
  if (!solved || !sendsLess(solved->price, priceOf(resolution.shardings()))) {
    dropOthers();
    return resolution.shardings();
  }
  table.all() = std::move(before);
  if (journal)
    *journal = std::move(notes);
  take(*solved);
  dropOthers();
  return std::move(solved->shardings);
}
