//===- ReshardGreedy.cpp - ways that need no search -----------------------===//

#include "weft/passes/sharding/resharding/ReshardSteps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace weft;
using namespace weft::reshard;

namespace {
/// Takes legal steps one after the other, each time the one with the best
/// score.
class GreedyWay {
public:
  explicit GreedyWay(const Problem &problem [[clang::lifetimebound]])
      : problem(problem), state(problem.source), view(problem, state),
        target(problem, problem.target) {}

  /// Takes the step with the highest score, until none is above 0.
  template <typename Score> void take(Score score) {
    for (int best = 1; best > 0;) {
      best = 0;
      Move next;
      forEachMove(problem, state, view, [&](Move &move) {
        if (int value = score(move); value > best) {
          best = value;
          next = move;
        }
      });
      if (best == 0)
        return;
      state = next.result;
      view = View(problem, state);
      moves.push_back(std::move(next));
    }
  }
  int sliceScore(const Move &move) const;
  int moveScore(const Move &move) const;
  int gatherScore(const Move &move) const;
  int finishScore(const Move &move) const;
  int reduceScore(const Move &move) const {
    return move.kind == ReshardStepKind::AllReduce;
  }
  /// The score of gathering a dimension that differs.
  int emptyScore(const Move &move, int dim) const {
    return move.kind == ReshardStepKind::AllGather && move.from == dim &&
           view.lists[dim] != target.lists[dim] &&
           move.digits.size() == view.lists[dim].size();
  }
  bool arrived() const { return state == problem.target; }

  llvm::SmallVector<Move, 8> moves;

private:
  /// Whether only gathers are left.
  bool inPlace(const View &view) const {
    for (unsigned dim = 0; dim < problem.rank(); ++dim)
      if (!agrees(view, dim) ||
          view.lists[dim].size() < target.lists[dim].size())
        return false;
    return true;
  }
  bool agrees(const View &after, unsigned dim) const {
    llvm::ArrayRef<uint8_t> list = after.lists[dim], goal = target.lists[dim];
    size_t length = std::min(list.size(), goal.size());
    return list.take_front(length) == goal.take_front(length);
  }

  const Problem &problem;
  State state;
  View view;
  View target;
};
} // namespace

/// The score of a slice or reduce-scatter: best if its dimension has too few
/// shards, then if its digits are final ones of that dimension, then with more
/// digits, up to 3.
int GreedyWay::sliceScore(const Move &move) const {
  if (move.kind != ReshardStepKind::Slice &&
      move.kind != ReshardStepKind::ReduceScatter)
    return 0;
  bool lacking = view.counts[move.to] < target.counts[move.to];
  bool inPlace = agrees(View(problem, move.result), move.to);
  return 1 + 8 * lacking + 4 * inPlace + std::min<int>(3, move.digits.size());
}

/// The score of an all-to-all to a dimension with too few shards, from one that
/// keeps enough: higher with more digits, unless they would be too many shards.
/// A permute scores if it leaves gathers only.
int GreedyWay::moveScore(const Move &move) const {
  View after(problem, move.result);
  if (move.kind == ReshardStepKind::AllToAll) {
    bool helps = view.counts[move.to] < target.counts[move.to] &&
                 after.counts[move.from] >= target.counts[move.from];
    bool fits = after.counts[move.to] <= target.counts[move.to];
    return helps * (2 + fits * static_cast<int>(move.digits.size()));
  }
  return move.kind == ReshardStepKind::Permute && inPlace(after) &&
         !inPlace(view);
}

int GreedyWay::gatherScore(const Move &move) const {
  return move.kind == ReshardStepKind::AllGather &&
         View(problem, move.result).lists[move.from] == target.lists[move.from];
}

int GreedyWay::finishScore(const Move &move) const {
  return move.kind == ReshardStepKind::MakePartial ||
         (move.kind == ReshardStepKind::Slice &&
          View(problem, move.result).lists[move.to] == target.lists[move.to]);
}

bool reshard::sliceMoveGather(const Problem &problem,
                              llvm::SmallVectorImpl<Move> &moves) {
  GreedyWay way(problem);
  way.take([&](const Move &move) { return way.sliceScore(move); });
  way.take([&](const Move &move) { return way.reduceScore(move); });
  way.take([&](const Move &move) { return way.moveScore(move); });
  way.take([&](const Move &move) { return way.gatherScore(move); });
  way.take([&](const Move &move) { return way.finishScore(move); });
  moves.assign(way.moves.begin(), way.moves.end());
  return way.arrived();
}

llvm::SmallVector<Move, 8> reshard::gatherAndSlice(const Problem &problem) {
  GreedyWay way(problem);
  auto finish = [&](const Move &move) { return way.finishScore(move); };
  way.take([&](const Move &move) { return way.reduceScore(move); });
  for (int dim = 0, e = problem.rank(); dim < e; ++dim) {
    way.take(finish);
    way.take([&](const Move &move) { return way.emptyScore(move, dim); });
  }
  way.take(finish);
  return std::move(way.moves);
}
