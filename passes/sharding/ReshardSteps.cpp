//===- ReshardSteps.cpp - the legal steps of a reshard --------------------===//

#include "weft/passes/sharding/ReshardSteps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace weft;
using namespace weft::reshard;

// Shard i over p begins at i*c, its block k at i*c + k*c'; shard i*q+k over
// p*q begins at (i*q+k)*c'. They are one where i is 0 or c = q*c'.
bool reshard::nests(int64_t n, int64_t p, int64_t q) {
  return p == 1 || n <= 1 || shardSize(n, p) == q * shardSize(n, p * q);
}

namespace {
/// Generates the steps from one state.
class StepGenerator {
public:
  StepGenerator(const Problem &problem, const State &state, const View &view,
                llvm::function_ref<void(Move &)> visit)
      : problem(problem), state(state), view(view), visit(visit) {
    for (unsigned i = 0, e = problem.digits.size(); i < e; ++i)
      if (state.place[i] != unused)
        usedMask |= uint64_t(1) << i;
    targetLists = View(problem, problem.target).lists;
  }

  void slices();
  void makePartial();
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
  /// May the digits be appended to the dimension?
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
  Move start(StepKind kind, llvm::ArrayRef<uint8_t> digits) const {
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
  /// The digits that the target has in a dimension after those here now, as
  /// far as `usable` goes; empty where the lists have parted already.
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
  void slice(unsigned dim, llvm::ArrayRef<uint8_t> digits);
  void reduce(llvm::ArrayRef<uint8_t> digits);
  void reduceScatter(unsigned dim, llvm::ArrayRef<uint8_t> digits);
  void permute(llvm::ArrayRef<uint8_t> image);
  void permuteToTarget();

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
  Move move = start(StepKind::Slice, digits);
  move.to = dim;
  append(move.result, dim, digits);
  visit(move);
}

void StepGenerator::slices() {
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    for (uint8_t i = 0, e = problem.digits.size(); i < e; ++i)
      if (isFree(i))
        slice(dim, i);
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
  Move move = start(StepKind::MakePartial, digits);
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
      Move gather = start(StepKind::AllGather, digits);
      gather.from = dim;
      remove(gather.result, digits);
      visit(gather);
      for (unsigned to = 0; to < problem.rank(); ++to) {
        if (to == dim || !appends(to, digits))
          continue;
        Move move = start(StepKind::AllToAll, digits);
        move.from = dim;
        move.to = to;
        append(move.result, to, digits);
        visit(move);
      }
    }
  }
}

void StepGenerator::reduce(llvm::ArrayRef<uint8_t> digits) {
  Move move = start(StepKind::AllReduce, digits);
  remove(move.result, digits);
  visit(move);
}

void StepGenerator::reduceScatter(unsigned dim,
                                  llvm::ArrayRef<uint8_t> digits) {
  if (digits.empty() || !appends(dim, digits))
    return;
  Move move = start(StepKind::ReduceScatter, digits);
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
  // What the target scatters is better scattered, so all-reduce what is left
  // over, everything, or one digit.
  reduce(summands);
  Digits leftOver;
  for (uint8_t digit : summands)
    if (problem.target.place[digit] >= partialTo)
      leftOver.push_back(digit);
  if (!leftOver.empty() && leftOver.size() < summands.size())
    reduce(leftOver);
  for (uint8_t digit : summands)
    if (summands.size() > 1)
      reduce(digit);
  auto isSummand = [&](unsigned digit) {
    return state.place[digit] == partialFrom;
  };
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    Digits run = wanted(dim, isSummand);
    for (size_t length = 2; length <= run.size(); ++length)
      reduceScatter(dim, llvm::ArrayRef(run).take_front(length));
    if (summands.size() > 1 && run != summands)
      reduceScatter(dim, summands);
    for (uint8_t digit : summands)
      reduceScatter(dim, digit);
  }
}

//===----------------------------------------------------------------------===//
// Permutations: the same number of shards in every dimension, other holders
//===----------------------------------------------------------------------===//

/// Digit i goes to where digit image[i] was.
void StepGenerator::permute(llvm::ArrayRef<uint8_t> image) {
  Move move = start(StepKind::Permute, {});
  for (unsigned i = 0; i < image.size(); ++i) {
    if (image[i] == i)
      continue;
    move.digits.push_back(i);
    move.result.place[i] = state.place[image[i]];
    move.result.order[i] = state.order[image[i]];
  }
  if (move.result != state)
    visit(move);
}

/// Straight to the target, or to a state from which slices lead there.
void StepGenerator::permuteToTarget() {
  Move move = start(StepKind::Permute, {});
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i)
    if (state.place[i] < partialTo)
      move.result.place[i] = unused, move.result.order[i] = 0;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    int64_t count = problem.frozenCount[dim];
    for (auto [order, digit] : llvm::enumerate(targetLists[dim])) {
      if (count >= view.counts[dim])
        break;
      // Summands stay where they are.
      if (state.place[digit] == partialFrom || state.place[digit] == partialTo)
        return;
      count *= problem.digits[digit].size;
      move.result.place[digit] = dim;
      move.result.order[digit] = order;
    }
    if (count != view.counts[dim])
      return;
  }
  uint64_t used = 0;
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i) {
    if (move.result.place[i] != unused)
      used |= uint64_t(1) << i;
    if (move.result.place[i] != state.place[i] ||
        move.result.order[i] != state.order[i])
      move.digits.push_back(i);
  }
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i)
    if ((used >> i & 1) && (problem.conflicts[i] & used))
      return;
  if (!move.digits.empty())
    visit(move);
}

bool reshard::movesAreComplete(const Problem &problem) {
  return problem.digits.size() <= 4 && problem.independent;
}

void StepGenerator::permutations() {
  unsigned count = problem.digits.size();
  if (!problem.independent || !movesAreComplete(problem))
    permuteToTarget();
  if (!problem.independent)
    return;
  Digits image(count);
  std::iota(image.begin(), image.end(), 0);
  auto moves = [&](unsigned a, unsigned b) {
    return state.place[a] != partialFrom && state.place[a] != partialTo &&
           state.place[b] != partialFrom && state.place[b] != partialTo &&
           problem.digits[a].size == problem.digits[b].size;
  };
  if (!movesAreComplete(problem)) {
    for (unsigned a = 0; a < count; ++a)
      for (unsigned b = a + 1; b < count; ++b)
        if (moves(a, b)) {
          std::swap(image[a], image[b]);
          permute(image);
          std::swap(image[a], image[b]);
        }
    return;
  }
  permuteToTarget();
  while (std::next_permutation(image.begin(), image.end())) {
    bool legal = true;
    for (unsigned i = 0; i < count && legal; ++i)
      legal = image[i] == i || moves(i, image[i]);
    if (legal)
      permute(image);
  }
}

void reshard::forEachMove(const Problem &problem, const State &state,
                          const View &view,
                          llvm::function_ref<void(Move &)> visit) {
  StepGenerator generator(problem, state, view, visit);
  generator.slices();
  generator.makePartial();
  generator.gathersAndAllToAlls();
  generator.reductions();
  generator.permutations();
}

llvm::SmallVector<Move, 8> reshard::gatherAndSlice(const Problem &problem) {
  llvm::SmallVector<Move, 8> moves;
  State state = problem.source;
  View target(problem, problem.target);
  // Takes the first step of the kind that fits, until there is none.
  auto take = [&](auto fits) {
    for (bool found = true; found;) {
      found = false;
      Move next;
      View view(problem, state);
      forEachMove(problem, state, view, [&](Move &move) {
        if (!found && fits(view, move)) {
          next = move;
          found = true;
        }
      });
      if (found) {
        state = next.result;
        moves.push_back(std::move(next));
      }
    }
  };
  auto agrees = [&](const Move &move, unsigned dim) {
    return View(problem, move.result).lists[dim] == target.lists[dim];
  };
  auto slices = [&](const View &, const Move &move) {
    return move.kind == StepKind::MakePartial ||
           (move.kind == StepKind::Slice && agrees(move, move.to));
  };
  take([&](const View &view, const Move &move) {
    return move.kind == StepKind::AllReduce;
  });
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    take(slices);
    take([&](const View &view, const Move &move) {
      return move.kind == StepKind::AllGather &&
             move.from == static_cast<int>(dim) &&
             view.lists[dim] != target.lists[dim] &&
             move.digits.size() == view.lists[dim].size();
    });
  }
  take(slices);
  return moves;
}

bool reshard::exchangeMove(const Problem &problem, const State &state,
                           Move &move) {
  move.kind = StepKind::Exchange;
  move.result = problem.target;
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i) {
    uint8_t a = state.place[i], b = problem.target.place[i];
    if (a == partialFrom)
      return false;
    // New summands are made afterwards, of copies.
    if (b == partialTo && a != partialTo)
      move.result.place[i] = b = unused;
    if (a < partialTo || b < partialTo)
      move.digits.push_back(i);
  }
  return move.result != state;
}
