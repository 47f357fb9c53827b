//===- SteadyState.cpp - a schedule as a loop -----------------------------===//

#include "weft/base/pipeline/SteadyState.h"

#include "weft/base/pipeline/LoopReplay.h"
#include "weft/base/pipeline/Replay.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace weft;
using namespace weft::pipeline;

int64_t SteadyState::iterations() const {
  int64_t last = 0;
  for (const StagePass &pass : passes)
    last = std::max(last, pass.delay + countOf(pass));
  return last;
}

/// The number of a pass of the whole model's stages and chunks; nothing if there
/// is none.
static std::optional<size_t> findPass(const std::vector<StagePass> &passes,
                                      int stages, WorkKind kind, int layer,
                                      int offset) {
  for (WorkKind known : {kind, WorkKind::Backward})
    for (size_t n = 0; layer >= 0 && n < passes.size(); ++n)
      if (const StagePass &pass = passes[n];
          pass.kind == known && pass.offset == offset &&
          pass.chunk * stages + pass.stage == layer &&
          (kind != WorkKind::Forward || known == kind))
        return n;
  return std::nullopt;
}

static int stagesOf(const std::vector<StagePass> &passes) {
  int stages = 0;
  for (const StagePass &pass : passes)
    stages = std::max(stages, pass.stage + 1);
  return stages;
}

static std::optional<size_t> sourceIn(const std::vector<StagePass> &passes,
                                      int stages, size_t number) {
  const StagePass &pass = passes[number];
  int layer = pass.chunk * stages + pass.stage;
  if (pass.kind == WorkKind::WeightGradient)
    return std::nullopt;
  bool isForward = pass.kind == WorkKind::Forward;
  return findPass(passes, stages,
                  isForward ? WorkKind::Forward : WorkKind::InputGradient,
                  isForward ? layer - 1 : layer + 1, pass.offset);
}

std::optional<size_t> SteadyState::sourceOf(size_t pass) const {
  return sourceIn(passes, stagesOf(passes), pass);
}

namespace {
/// A pass is at least so many iterations behind another.
struct Difference {
  size_t from, to;
  int64_t least;
};

/// Finds delays by differences, where a given pass of each stage is the first of
/// its iteration, and then an order of all passes.
class LoopSolver {
public:
  LoopSolver(const Schedule &schedule [[clang::lifetimebound]], int round)
      : schedule(schedule), round(round), stages(int(schedule.stages.size())) {
    for (int stage = 0; stage < stages; ++stage)
      for (const Work &work : schedule.stages[size_t(stage)])
        if (numbers.try_emplace(keyOf(stage, work), passes.size()).second)
          passes.push_back(
              {stage, work.kind, work.chunk, work.microbatch % round, 0});
    for (size_t n = 0; n < passes.size(); ++n)
      sources.push_back(sourceIn(passes, stages, n));
  }

  int64_t size() const { return int64_t(passes.size()); }
  /// The loop whose stages wait the least.
  std::optional<SteadyState> solve();

private:
  using Key = std::tuple<int, WorkKind, int, int>;
  Key keyOf(int stage, const Work &work) const {
    return {stage, work.kind, work.chunk, work.microbatch % round};
  }
  /// The items with which an iteration of each stage begins.
  using Cut = std::vector<size_t>;
  Cut cutAt(const StagePass &first) const;
  Cut cutAt(int64_t time, const Replay &times) const;
  std::vector<Cut> cuts() const;
  void orderStages(const Cut &cut);
  void collectLists();
  void collectSources(bool isTight);
  bool findDelays();
  /// Whether a pass needs another of the same iteration.
  bool isSame(size_t from, size_t to) const {
    return passes[from].delay == passes[to].delay;
  }
  std::optional<SteadyState> order() const;
  std::optional<SteadyState> solveFrom(const Cut &cut, bool isTight);

  const Schedule &schedule;
  int round, stages;
  std::vector<StagePass> passes;
  std::map<Key, size_t> numbers;
  std::vector<std::optional<size_t>> sources; ///< by pass, of another stage
  std::vector<std::vector<size_t>> inOrder;   ///< the passes of each stage
  std::vector<size_t> rank;                   ///< by pass, in its stage
  std::vector<Difference> differences;
};
} // namespace

/// The cut in front of items in the middle of the lists that are like a pass.
LoopSolver::Cut LoopSolver::cutAt(const StagePass &first) const {
  Cut cut;
  for (const std::vector<Work> &list : schedule.stages) {
    size_t &start = cut.emplace_back(0), seen = 0;
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i].kind == first.kind && list[i].chunk == first.chunk &&
          list[i].microbatch % round == first.offset &&
          int(seen++) <= schedule.microbatches / round / 2)
        start = i;
  }
  return cut;
}

/// The cut in front of what stages begin at a time or later, so that they wait
/// for nothing that is computed afterwards.
LoopSolver::Cut LoopSolver::cutAt(int64_t time, const Replay &times) const {
  Cut cut;
  for (const std::vector<int64_t> &starts : times.starts) {
    auto found = std::ranges::lower_bound(starts, time);
    cut.push_back(found == starts.end() ? 0 : size_t(found - starts.begin()));
  }
  return cut;
}

/// Cuts at each pass of stage 0, and at the times at which it begins them.
std::vector<LoopSolver::Cut> LoopSolver::cuts() const {
  std::vector<Cut> all;
  Result<Replay> times = weft::pipeline::replay(schedule);
  for (const StagePass &pass : passes) {
    if (pass.stage != 0)
      continue;
    all.push_back(cutAt(pass));
    if (times)
      all.push_back(cutAt(times->starts[0][all.back()[0]], *times));
  }
  return all;
}

/// Orders the passes of each stage as its list has them behind the cut.
void LoopSolver::orderStages(const Cut &cut) {
  inOrder.assign(size_t(stages), {});
  rank.assign(passes.size(), 0);
  for (int stage = 0; stage < stages; ++stage) {
    const std::vector<Work> &list = schedule.stages[size_t(stage)];
    std::vector<size_t> &own = inOrder[size_t(stage)];
    for (size_t i = 0; i < list.size(); ++i) {
      size_t at = (cut[size_t(stage)] + i) % list.size(),
             number = numbers.at(keyOf(stage, list[at]));
      if (std::ranges::find(own, number) == own.end()) {
        rank[number] = own.size();
        own.push_back(number);
      }
    }
  }
}

/// Collects the differences that the order of the lists demands.
void LoopSolver::collectLists() {
  std::map<std::pair<size_t, size_t>, int64_t> least;
  for (int stage = 0; stage < stages; ++stage) {
    const std::vector<Work> &list = schedule.stages[size_t(stage)];
    for (size_t i = 1; i < list.size(); ++i) {
      size_t from = numbers.at(keyOf(stage, list[i - 1])),
             to = numbers.at(keyOf(stage, list[i]));
      int64_t wanted = list[i - 1].microbatch / round -
                       list[i].microbatch / round +
                       (rank[from] >= rank[to] ? 1 : 0);
      auto [known, isNew] = least.try_emplace({from, to}, wanted);
      known->second = std::max(known->second, wanted);
    }
  }
  for (auto &[pair, wanted] : least)
    differences.push_back({pair.first, pair.second, wanted});
}

/// Collects what passes demand that read other stages. `isTight`: a pass that is
/// not the first of its stage reads what is computed in its own iteration, so
/// that its stage computes what is in front of it meanwhile.
void LoopSolver::collectSources(bool isTight) {
  for (size_t n = 0; n < passes.size(); ++n) {
    if (!sources[n])
      continue;
    differences.push_back({*sources[n], n, 0});
    if (isTight && rank[n] > 0)
      differences.push_back({n, *sources[n], 0});
  }
}

/// Finds the least delays; false if passes would wait for themselves.
bool LoopSolver::findDelays() {
  for (StagePass &pass : passes)
    pass.delay = 0;
  for (size_t turn = 0; turn <= passes.size(); ++turn) {
    bool isChanged = false;
    for (const Difference &each : differences)
      if (int64_t wanted = passes[each.from].delay + each.least;
          passes[each.to].delay < wanted) {
        passes[each.to].delay = wanted;
        isChanged = true;
      }
    if (!isChanged)
      return true;
  }
  return false;
}

/// Orders the passes so that each is behind what it reads in its iteration, and
/// goes on with a stage as long as possible; nothing if they wait for each other.
std::optional<SteadyState> LoopSolver::order() const {
  SteadyState state{round, schedule.microbatches, {}};
  std::vector<size_t> next(inOrder.size());
  std::vector<bool> isTaken(passes.size());
  auto take = [&](size_t stage) {
    if (next[stage] == inOrder[stage].size())
      return false;
    size_t pass = inOrder[stage][next[stage]];
    if (sources[pass] && isSame(*sources[pass], pass) &&
        !isTaken[*sources[pass]])
      return false;
    isTaken[pass] = true;
    state.passes.push_back(passes[pass]);
    ++next[stage];
    return true;
  };
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (size_t stage = 0; stage < next.size(); ++stage)
      while (take(stage))
        isChanged = true;
  }
  return state.passes.size() == passes.size() ? std::optional(state)
                                              : std::nullopt;
}

std::optional<SteadyState> LoopSolver::solveFrom(const Cut &cut, bool isTight) {
  orderStages(cut);
  differences.clear();
  collectLists();
  collectSources(isTight);
  // Passes of one iteration that wait for each other need one of another.
  for (size_t turn = 0; turn <= passes.size(); ++turn) {
    if (!findDelays())
      return std::nullopt;
    if (auto state = order())
      return state;
    auto before = differences.size();
    for (size_t n = 0; n < passes.size(); ++n)
      if (sources[n] && isSame(*sources[n], n) && rank[n] == 0)
        differences.push_back({*sources[n], n, 1});
    if (before == differences.size() || isTight)
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<SteadyState> LoopSolver::solve() {
  std::optional<SteadyState> best;
  int64_t least = 0;
  for (const Cut &cut : cuts())
    for (bool isTight : {true, false}) {
      std::optional<SteadyState> state = solveFrom(cut, isTight);
      if (!state)
        continue;
      int64_t end = weft::pipeline::replay(*state).end;
      if (!best || end < least) {
        best = std::move(state);
        least = end;
      }
    }
  return best;
}

/// Whether each list computes the microbatches of a pass in their order.
static Status checkOrder(const Schedule &schedule) {
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
  return {};
}

Result<SteadyState> weft::pipeline::steadyState(const Schedule &schedule) {
  if (Status status = checkOrder(schedule); !status)
    return status.error();
  int64_t size = 0;
  for (int round : {1, int(schedule.stages.size())}) {
    if (schedule.chunks == 1 && round > 1)
      continue;
    LoopSolver solver(schedule, std::max(round, 1));
    size = solver.size();
    if (size > kMostPasses)
      break;
    if (auto state = solver.solve())
      return *state;
  }
  return Error{
      "the schedule of " + std::to_string(schedule.stages.size()) +
      " stages, " + std::to_string(schedule.microbatches) +
      " microbatches and " + std::to_string(schedule.chunks) +
      " chunks is no loop of at most " + std::to_string(kMostPasses) +
      " passes: no iteration, with one microbatch or with one for each "
      "stage, repeats its lists; use gpipe, 1f1b, interleaved or "
      "zb-h1"};
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
