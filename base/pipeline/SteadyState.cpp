//===- SteadyState.cpp - a schedule as a loop -----------------------------===//

#include "weft/base/pipeline/SteadyState.h"

#include <algorithm>
#include <map>

using namespace weft;
using namespace weft::pipeline;

int64_t SteadyState::iterations() const {
  int64_t last = 0;
  for (const StagePass &pass : passes)
    last = std::max(last, delayOf(pass));
  return last + microbatches;
}

namespace {
/// Finds ticks by differences: each pass is at least this many ticks after
/// another.
class TickSolver {
public:
  explicit TickSolver(const Schedule &schedule [[clang::lifetimebound]])
      : schedule(schedule) {
    for (size_t stage = 0; stage < schedule.stages.size(); ++stage)
      for (const Work &work : schedule.stages[stage])
        if (numbers.try_emplace(key(int(stage), work), passes.size()).second)
          passes.push_back({int(stage), work.kind, work.chunk, 0});
  }

  /// Tries each period that could hold a stage's passes of one microbatch.
  std::optional<SteadyState> solve() {
    std::map<int, int> ofStage;
    int most = 1;
    for (const StagePass &pass : passes)
      most = std::max(most, ++ofStage[pass.stage]);
    for (int period = 1; period <= most; ++period)
      if (fits(period))
        return loop(period);
    return std::nullopt;
  }

private:
  using Key = std::tuple<int, WorkKind, int>;
  static Key key(int stage, const Work &work) {
    return {stage, work.kind, work.chunk};
  }
  /// The pass of a stage and chunk counted over the whole model, or nothing.
  std::optional<size_t> find(WorkKind kind, int layer) const {
    int stages = int(schedule.stages.size());
    if (layer < 0)
      return std::nullopt;
    auto known = numbers.find({layer % stages, kind, layer / stages});
    if (known == numbers.end() && kind == WorkKind::InputGradient)
      return find(WorkKind::Backward, layer);
    return known == numbers.end() ? std::nullopt : std::optional(known->second);
  }
  void require(std::optional<size_t> from, size_t to, int64_t ticks) {
    if (!from)
      return;
    auto [known, isNew] = least.try_emplace({*from, to}, ticks);
    known->second = std::max(known->second, ticks);
  }
  void collect(int period);
  bool fits(int period);
  SteadyState loop(int period) const;

  const Schedule &schedule;
  std::vector<StagePass> passes;
  std::map<Key, size_t> numbers;
  std::map<std::pair<size_t, size_t>, int64_t> least;
};
} // namespace

/// Collects the differences that the lists and what passes read demand.
void TickSolver::collect(int period) {
  least.clear();
  for (size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    const std::vector<Work> &list = schedule.stages[stage];
    for (size_t i = 1; i < list.size(); ++i)
      require(numbers.at(key(int(stage), list[i - 1])),
              numbers.at(key(int(stage), list[i])),
              1 + int64_t(period) *
                      (list[i - 1].microbatch - list[i].microbatch));
  }
  for (size_t i = 0; i < passes.size(); ++i) {
    int layer = passes[i].chunk * int(schedule.stages.size()) + passes[i].stage;
    switch (passes[i].kind) {
    case WorkKind::Forward:
      require(find(WorkKind::Forward, layer - 1), i, 1);
      break;
    case WorkKind::WeightGradient:
      require(find(WorkKind::InputGradient, layer), i, 1);
      break;
    default:
      require(find(WorkKind::Forward, layer), i, 1);
      require(find(WorkKind::InputGradient, layer + 1), i, 1);
    }
  }
}

/// Finds the earliest ticks; false if passes would wait for themselves.
bool TickSolver::fits(int period) {
  collect(period);
  for (StagePass &pass : passes)
    pass.tick = 0;
  for (size_t round = 0; round <= passes.size(); ++round) {
    bool isChanged = false;
    for (auto &[pair, ticks] : least)
      if (int64_t wanted = passes[pair.first].tick + ticks;
          passes[pair.second].tick < wanted) {
        passes[pair.second].tick = wanted;
        isChanged = true;
      }
    if (!isChanged)
      return true;
  }
  return false;
}

SteadyState TickSolver::loop(int period) const {
  SteadyState state{period, schedule.microbatches, passes};
  std::ranges::stable_sort(state.passes,
                           [&](const StagePass &a, const StagePass &b) {
                             return std::pair(state.tickOf(a), a.stage) <
                                    std::pair(state.tickOf(b), b.stage);
                           });
  return state;
}

Result<SteadyState> weft::pipeline::steadyState(const Schedule &schedule) {
  if (auto state = TickSolver(schedule).solve())
    return *state;
  for (size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    std::map<std::pair<WorkKind, int>, int> next;
    const std::vector<Work> &list = schedule.stages[stage];
    for (size_t item = 0; item < list.size(); ++item) {
      const Work &work = list[item];
      int expected = next[{work.kind, work.chunk}]++;
      if (work.microbatch != expected)
        return Error{placeOf(schedule, int(stage), int(item)) +
                     ": is of microbatch " + std::to_string(work.microbatch) +
                     ", and the loop of a pipeline computes microbatches in "
                     "their order, " +
                     std::to_string(expected) +
                     " now; change their order, or use the schedule 1f1b"};
    }
  }
  return Error{"the schedule of " + std::to_string(schedule.stages.size()) +
               " stages, " + std::to_string(schedule.microbatches) +
               " microbatches and " + std::to_string(schedule.chunks) +
               " chunks is no loop: no iteration with one pass of each kind "
               "repeats its lists (interleaved schedules have rounds of "
               "several microbatches); use gpipe, 1f1b or zb-h1"};
}

Schedule weft::pipeline::forwardPasses(const Schedule &schedule) {
  Schedule forward{schedule.microbatches, schedule.chunks, {}};
  for (const std::vector<Work> &list : schedule.stages) {
    std::vector<Work> &own = forward.stages.emplace_back();
    for (const Work &work : list)
      if (work.kind == WorkKind::Forward)
        own.push_back(work);
  }
  return forward;
}
