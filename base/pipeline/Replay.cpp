//===- Replay.cpp - the time that a schedule takes ------------------------===//

#include "weft/base/pipeline/Replay.h"

#include "weft/base/pipeline/ScheduleChecks.h"

#include <algorithm>

using namespace weft;
using namespace weft::pipeline;

int64_t WorkTimes::of(WorkKind kind) const {
  switch (kind) {
  case WorkKind::Forward:
    return forward;
  case WorkKind::InputGradient:
    return inputGradient;
  case WorkKind::WeightGradient:
    return weightGradient;
  case WorkKind::Backward:
    return inputGradient + weightGradient;
  }
  return 0;
}

int64_t Replay::bubble() const {
  return idle.empty() ? 0 : *std::ranges::min_element(idle);
}

namespace {
class Clock {
public:
  Clock(const Schedule &schedule [[clang::lifetimebound]],
        const ScheduleIndex &index [[clang::lifetimebound]],
        const WorkTimes &times)
      : schedule(schedule), index(index), times(times),
        free(schedule.stages.size()) {
    replay.starts.resize(schedule.stages.size());
  }

  Replay run() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (size_t stage = 0; stage < free.size(); ++stage)
        while (step(stage))
          isChanged = true;
    }
    replay.end = *std::ranges::max_element(free);
    for (const std::vector<Work> &list : schedule.stages) {
      replay.idle.push_back(replay.end);
      for (const Work &work : list)
        replay.idle.back() -= times.of(work.kind);
    }
    return std::move(replay);
  }

private:
  /// Computes the next item of a stage; returns false if it is not ready.
  bool step(size_t stage) {
    std::vector<int64_t> &own = replay.starts[stage];
    const std::vector<Work> &list = schedule.stages[stage];
    if (own.size() == list.size())
      return false;
    int64_t start = free[stage];
    for (ItemPlace need : index.needs({int(stage), int(own.size())})) {
      const std::vector<int64_t> &known = replay.starts[size_t(need.stage)];
      if (size_t(need.item) >= known.size())
        return false;
      const Work &work = schedule.stages[size_t(need.stage)][size_t(need.item)];
      start = std::max(start, known[size_t(need.item)] + times.of(work.kind));
    }
    free[stage] = start + times.of(list[own.size()].kind);
    own.push_back(start);
    return true;
  }

  const Schedule &schedule;
  const ScheduleIndex &index;
  WorkTimes times;
  std::vector<int64_t> free; ///< when each stage is
  Replay replay;
};
} // namespace

Result<Replay> weft::pipeline::replay(const Schedule &schedule,
                                      const WorkTimes &times) {
  constexpr int64_t kMost = int64_t(1) << 32;
  for (int64_t time :
       {times.forward, times.inputGradient, times.weightGradient})
    if (time < 0 || time > kMost)
      return Error{"an item of the schedule takes " + std::to_string(time) +
                   " units of time; give it 0 to " + std::to_string(kMost)};
  if (Status status = check(schedule); !status)
    return status.error();
  return Clock(schedule, *ScheduleIndex::of(schedule), times).run();
}
