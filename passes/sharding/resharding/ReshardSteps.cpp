//===- ReshardSteps.cpp - the legal steps of a reshard --------------------===//

#include "weft/passes/sharding/resharding/ReshardSteps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace weft;
using namespace weft::reshard;

bool reshard::isMostlyPadding(int64_t n, int64_t shards) {
  return n > 0 && shardSize(n, shards) * shards > 2 * n;
}

// With c and c' for the sizes of shards over p and p*q: block k of shard i over
// p begins at i*c + k*c', and shard i*q+k over p*q at (i*q+k)*c'. They are
// equal for all i if c = q*c', or if i is always 0.
bool reshard::nests(int64_t n, int64_t p, int64_t q) {
  return p == 1 || n <= 1 || shardSize(n, p) == q * shardSize(n, p * q);
}

namespace {
/// Generates the steps from one state.
class StepGenerator {
public:
  StepGenerator(const Problem &problem [[clang::lifetimebound]],
                const State &state [[clang::lifetimebound]],
                const View &view [[clang::lifetimebound]],
                llvm::function_ref<void(Move &)> visit)
      : problem(problem), state(state), view(view), visit(visit) {
    for (unsigned i = 0, e = problem.digits.size(); i < e; ++i)
      if (state.place[i] != unused)
        usedMask |= uint64_t(1) << i;
    targetLists = View(problem, problem.target).lists;
  }

  void slices();
  void makePartial();
  void places();
  void gathersAndAllToAlls();
  void reductions();
  void permutations();

private:
  bool isFree(unsigned digit) const {
    return state.place[digit] == unused &&
           (problem.conflicts[digit] & usedMask) == 0;
  }
  int64_t sizeOf(llvm::ArrayRef<uint8_t> digits) const {
    int64_t product = 1;
    for (uint8_t digit : digits)
      product *= problem.digits[digit].size;
    return product;
  }
  /// Whether the digits may be appended to the dimension.
  bool appends(unsigned dim, llvm::ArrayRef<uint8_t> digits) const {
    return nests(problem.shape[dim], view.counts[dim], sizeOf(digits));
  }
  void append(State &result, unsigned dim,
              llvm::ArrayRef<uint8_t> digits) const {
    for (auto [i, digit] : llvm::enumerate(digits)) {
      result.place[digit] = dim;
      result.order[digit] = view.lists[dim].size() + i;
    }
  }
  Move start(ReshardStepKind kind, llvm::ArrayRef<uint8_t> digits) const {
    Move move;
    move.kind = kind;
    move.digits.assign(digits.begin(), digits.end());
    move.result = state;
    return move;
  }
  void remove(State &result, llvm::ArrayRef<uint8_t> digits) const {
    for (uint8_t digit : digits) {
      result.place[digit] = unused;
      result.order[digit] = 0;
    }
  }
  /// The digits that the target has in a dimension after the present ones, as
  /// far as `usable` allows; empty if the lists differ already.
  Digits wanted(unsigned dim, llvm::function_ref<bool(unsigned)> usable) const {
    llvm::ArrayRef<uint8_t> list = view.lists[dim], goal = targetLists[dim];
    Digits result;
    if (list.size() <= goal.size() && goal.take_front(list.size()) == list)
      for (uint8_t digit : goal.drop_front(list.size())) {
        if (!usable(digit))
          break;
        result.push_back(digit);
      }
    return result;
  }
  void forEachList(
      unsigned dim, uint64_t pool, Digits &list, bool evenToo,
      llvm::function_ref<void(llvm::ArrayRef<uint8_t>)> visitList) const;
  llvm::SmallVector<Digits, 8> reducible(const Digits &summands) const;
  void slice(unsigned dim, llvm::ArrayRef<uint8_t> digits);
  void reduce(llvm::ArrayRef<uint8_t> digits);
  void reduceScatter(unsigned dim, llvm::ArrayRef<uint8_t> digits);
  void swap(uint8_t a, uint8_t b);
  void arrange(Move &move, uint64_t used, unsigned dim, int64_t count,
               uint8_t order);
  Move startPermute(uint64_t &used) const;
  void finishPermute(Move move);
  void permuteToTarget();
  bool fill(State &result, unsigned dim, int64_t count) const;

  const Problem &problem;
  const State &state;
  const View &view;
  llvm::function_ref<void(Move &)> visit;
  llvm::SmallVector<Digits, 4> targetLists;
  uint64_t usedMask = 0;
};
} // namespace

void StepGenerator::slice(unsigned dim, llvm::ArrayRef<uint8_t> digits) {
  if (!appends(dim, digits))
    return;
  Move move = start(ReshardStepKind::Slice, digits);
  move.to = dim;
  append(move.result, dim, digits);
  visit(move);
}

/// Visits lists of the digits in `pool`, in any order, appended to `list`. If a
/// dimension divides by all of them, appending one digit at a time is
/// equivalent and enough, unless `evenToo`. If the problem has more than 4
/// digits, only lists with one more digit are visited.
void StepGenerator::forEachList(
    unsigned dim, uint64_t pool, Digits &list, bool evenToo,
    llvm::function_ref<void(llvm::ArrayRef<uint8_t>)> visitList) const {
  for (uint8_t i = 0, e = problem.digits.size(); i < e; ++i) {
    if (!(pool >> i & 1))
      continue;
    list.push_back(i);
    visitList(list);
    uint64_t rest = pool & ~(uint64_t(1) << i) & ~problem.conflicts[i];
    int64_t most = view.counts[dim] * sizeOf(list);
    for (uint8_t other = 0; other < e; ++other)
      most *= rest >> other & 1 ? problem.digits[other].size : 1;
    if (problem.digits.size() <= 4 &&
        (evenToo || problem.shape[dim] % most != 0))
      forEachList(dim, rest, list, evenToo, visitList);
    list.pop_back();
  }
}

void StepGenerator::slices() {
  uint64_t pool = 0;
  for (uint8_t i = 0, e = problem.digits.size(); i < e; ++i)
    if (isFree(i))
      pool |= uint64_t(1) << i;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    Digits list;
    forEachList(dim, pool, list, /*evenToo=*/false,
                [&](llvm::ArrayRef<uint8_t> digits) { slice(dim, digits); });
    if (problem.digits.size() <= 4)
      continue;
    Digits run = wanted(dim, [&](unsigned digit) { return isFree(digit); });
    for (size_t length = 2; length <= run.size(); ++length)
      slice(dim, llvm::ArrayRef(run).take_front(length));
  }
}

void StepGenerator::makePartial() {
  if (problem.kindsDiffer && !view.reduced)
    return;
  Digits digits;
  for (uint8_t i = 0, e = problem.digits.size(); i < e; ++i)
    if (problem.target.place[i] == partialTo && isFree(i))
      digits.push_back(i);
  if (digits.empty())
    return;
  Move move = start(ReshardStepKind::MakePartial, digits);
  for (uint8_t digit : digits)
    move.result.place[digit] = partialTo;
  visit(move);
}

void StepGenerator::gathersAndAllToAlls() {
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    llvm::ArrayRef<uint8_t> list = view.lists[dim];
    for (size_t length = 1; length <= list.size(); ++length) {
      llvm::ArrayRef<uint8_t> digits = list.take_back(length);
      int64_t size = sizeOf(digits);
      if (!nests(problem.shape[dim], view.counts[dim] / size, size))
        continue;
      Move gather = start(ReshardStepKind::AllGather, digits);
      gather.from = dim;
      remove(gather.result, digits);
      visit(gather);
      for (unsigned to = 0; to < problem.rank(); ++to) {
        if (to == dim || !appends(to, digits))
          continue;
        Move move = start(ReshardStepKind::AllToAll, digits);
        move.from = dim;
        move.to = to;
        append(move.result, to, digits);
        visit(move);
      }
    }
  }
}

/// Shards become summands if a few devices hold most of the dimension: one row
/// over eight devices is sent to all of them by seven messages of its owner,
/// while in an all-reduce each device sends less than two rows.
void StepGenerator::places() {
  if (problem.kindsDiffer || !problem.allowPlace ||
      (problem.to.isPartial() && !problem.from.isPartial()))
    return;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    llvm::ArrayRef<uint8_t> list = view.lists[dim];
    int64_t size = problem.shape[dim], shards = view.counts[dim];
    if (!isMostlyPadding(size, shards))
      continue;
    for (size_t length = 1; length <= list.size(); ++length) {
      llvm::ArrayRef<uint8_t> digits = list.take_back(length);
      int64_t count = sizeOf(digits);
      if (!nests(size, shards / count, count))
        continue;
      Move move = start(ReshardStepKind::Place, digits);
      move.from = dim;
      remove(move.result, digits);
      for (uint8_t digit : digits)
        move.result.place[digit] = partialFrom;
      visit(move);
    }
  }
}

void StepGenerator::reduce(llvm::ArrayRef<uint8_t> digits) {
  Move move = start(ReshardStepKind::AllReduce, digits);
  remove(move.result, digits);
  visit(move);
}

void StepGenerator::reduceScatter(unsigned dim,
                                  llvm::ArrayRef<uint8_t> digits) {
  if (digits.empty() || !appends(dim, digits))
    return;
  Move move = start(ReshardStepKind::ReduceScatter, digits);
  move.to = dim;
  append(move.result, dim, digits);
  visit(move);
}

void StepGenerator::reductions() {
  Digits summands;
  for (uint8_t i = 0, e = problem.digits.size(); i < e; ++i)
    if (state.place[i] == partialFrom)
      summands.push_back(i);
  if (summands.empty())
    return;
  for (const Digits &digits : reducible(summands))
    reduce(digits);
  uint64_t pool = 0;
  for (uint8_t digit : summands)
    pool |= uint64_t(1) << digit;
  auto isSummand = [&](unsigned digit) { return pool >> digit & 1; };
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    Digits list;
    forEachList(
        dim, pool, list, /*evenToo=*/true,
        [&](llvm::ArrayRef<uint8_t> digits) { reduceScatter(dim, digits); });
    if (problem.digits.size() <= 4)
      continue;
    Digits run = wanted(dim, isSummand);
    for (size_t length = 2; length <= run.size(); ++length)
      reduceScatter(dim, llvm::ArrayRef(run).take_front(length));
    if (summands.size() > 1 && run != summands)
      reduceScatter(dim, summands);
  }
}

/// The sets of digits to all-reduce: all subsets of up to four summands; of
/// more, all digits, single ones, and those that shard nothing in the target.
llvm::SmallVector<Digits, 8>
StepGenerator::reducible(const Digits &summands) const {
  llvm::SmallVector<Digits, 8> result;
  if (summands.size() <= 4) {
    for (unsigned mask = 1; mask < 1u << summands.size(); ++mask) {
      Digits digits;
      for (unsigned i = 0; i < summands.size(); ++i)
        if (mask >> i & 1)
          digits.push_back(summands[i]);
      result.push_back(digits);
    }
    return result;
  }
  result.push_back(summands);
  Digits leftOver;
  for (uint8_t digit : summands) {
    result.push_back({digit});
    if (problem.target.place[digit] >= partialTo)
      leftOver.push_back(digit);
  }
  if (leftOver.size() > 1)
    result.push_back(leftOver);
  return result;
}

//===----------------------------------------------------------------------===//
// Permutations: the number of shards in every dimension stays, holders change
//===----------------------------------------------------------------------===//

/// Exchanges two digits of one size.
void StepGenerator::swap(uint8_t a, uint8_t b) {
  Move move = start(ReshardStepKind::Permute, {a, b});
  std::swap(move.result.place[a], move.result.place[b]);
  std::swap(move.result.order[a], move.result.order[b]);
  if (move.result != state)
    visit(move);
}

/// Visits all ways to fill the dimensions from `dim` on with as many shards as
/// they have; `dim` has `count` shards so far.
void StepGenerator::arrange(Move &move, uint64_t used, unsigned dim,
                            int64_t count, uint8_t order) {
  if (dim == problem.rank()) {
    finishPermute(move);
    return;
  }
  if (count == view.counts[dim]) {
    int64_t next = dim + 1 < problem.rank() ? problem.frozenCount[dim + 1] : 1;
    arrange(move, used, dim + 1, next, 0);
    return;
  }
  for (uint8_t i = 0, e = problem.digits.size(); i < e; ++i) {
    if (move.result.place[i] != unused || (problem.conflicts[i] & used) ||
        view.counts[dim] % (count * problem.digits[i].size) != 0)
      continue;
    move.result.place[i] = dim;
    move.result.order[i] = order;
    arrange(move, used | uint64_t(1) << i, dim, count * problem.digits[i].size,
            order + 1);
    move.result.place[i] = unused;
    move.result.order[i] = 0;
  }
}

/// Visits a permute, with the digits that change their places.
void StepGenerator::finishPermute(Move move) {
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i)
    if (move.result.place[i] != state.place[i] ||
        move.result.order[i] != state.order[i])
      move.digits.push_back(i);
  if (!move.digits.empty())
    visit(move);
}

/// Starts a permute: summands keep their digits, which are set in `used`;
/// digits of dimensions have no place yet.
Move StepGenerator::startPermute(uint64_t &used) const {
  Move move = start(ReshardStepKind::Permute, {});
  used = 0;
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i)
    if (state.place[i] < partialTo)
      move.result.place[i] = unused, move.result.order[i] = 0;
    else if (state.place[i] != unused)
      used |= uint64_t(1) << i;
  return move;
}

/// Fills a dimension with the target's digits, up to `count` shards, then with
/// digits of no dimension of the target; false if `count` is not met.
bool StepGenerator::fill(State &result, unsigned dim, int64_t count) const {
  int64_t product = problem.frozenCount[dim];
  uint8_t order = 0;
  auto place = [&](uint8_t digit) {
    product *= problem.digits[digit].size;
    result.place[digit] = dim;
    result.order[digit] = order++;
  };
  for (uint8_t digit : targetLists[dim]) {
    if (product >= count)
      break;
    // A summand stays at its digit.
    if (state.place[digit] == partialFrom || state.place[digit] == partialTo)
      return false;
    place(digit);
  }
  for (uint8_t i = 0, e = problem.digits.size(); i < e && product < count; ++i)
    if (result.place[i] == unused && problem.target.place[i] >= partialTo &&
        count % (product * problem.digits[i].size) == 0)
      place(i);
  return product == count;
}

/// Visits a permute directly to the target, or to a state from which slices and
/// gathers lead there.
void StepGenerator::permuteToTarget() {
  uint64_t used;
  Move move = startPermute(used);
  for (unsigned dim = 0; dim < problem.rank(); ++dim)
    if (!fill(move.result, dim, view.counts[dim]))
      return;
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i)
    if (move.result.place[i] != unused)
      used |= uint64_t(1) << i;
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i)
    if ((used >> i & 1) && (problem.conflicts[i] & used))
      return;
  finishPermute(std::move(move));
}

bool reshard::movesAreComplete(const Problem &problem) {
  return problem.digits.size() <= 4 && problem.independent;
}

void StepGenerator::permutations() {
  unsigned count = problem.digits.size();
  if (count <= 4) {
    uint64_t used;
    Move move = startPermute(used);
    if (problem.rank() > 0)
      arrange(move, used, 0, problem.frozenCount[0], 0);
    return;
  }
  permuteToTarget();
  auto mayMove = [&](uint8_t digit) {
    return state.place[digit] < partialTo || isFree(digit);
  };
  for (unsigned a = 0; a < count; ++a)
    for (unsigned b = a + 1; b < count; ++b)
      if (problem.independent && mayMove(a) && mayMove(b) &&
          problem.digits[a].size == problem.digits[b].size)
        swap(a, b);
}

void reshard::forEachMove(const Problem &problem, const State &state,
                          const View &view,
                          llvm::function_ref<void(Move &)> visit) {
  StepGenerator generator(problem, state, view, visit);
  generator.slices();
  generator.makePartial();
  generator.places();
  generator.gathersAndAllToAlls();
  generator.reductions();
  generator.permutations();
}

bool reshard::exchangeMove(const Problem &problem, const State &state,
                           Move &move) {
  move.kind = ReshardStepKind::Exchange;
  move.result = problem.target;
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i) {
    uint8_t a = state.place[i], b = problem.target.place[i];
    if (a == partialFrom)
      return false;
    // New summands are made afterwards, from copies.
    if (b == partialTo && a != partialTo)
      move.result.place[i] = b = unused;
    if (a < partialTo || b < partialTo)
      move.digits.push_back(i);
  }
  return move.result != state;
}
