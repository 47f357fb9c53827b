//===- LoopReplay.cpp - the time that a pipeline's loop takes -------------===//

#include "weft/base/pipeline/LoopReplay.h"

#include <algorithm>

using namespace weft;
using namespace weft::pipeline;

int64_t LoopReplay::bubble() const {
  return idle.empty() ? 0 : *std::ranges::min_element(idle);
}

namespace {
/// What a stage does in an iteration.
struct Step {
  enum class Kind : uint8_t { Compute, Start, Wait } kind;
  size_t pass; ///< the pass that computes, or whose result is moved
};

class LoopClock {
public:
  LoopClock(const SteadyState &state [[clang::lifetimebound]],
            const WorkTimes &times)
      : state(state), times(times) {
    size_t stages = 0;
    for (const StagePass &pass : state.passes)
      stages = std::max(stages, size_t(pass.stage) + 1);
    places.resize(stages);
    steps.resize(stages);
    computed.resize(stages);
    meetings.resize(state.passes.size());
    addSteps();
  }

  LoopReplay run() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (size_t stage = 0; stage < places.size(); ++stage)
        while (step(stage))
          isChanged = true;
    }
    LoopReplay out;
    for (const Place &place : places)
      out.end = std::max(out.end, place.ended);
    for (int64_t busy : computed)
      out.idle.push_back(out.end - busy);
    return out;
  }

private:
  /// Where a stage is, and the time there.
  struct Place {
    int64_t iteration = 0, now = 0, ended = 0;
    size_t step = 0;
  };
  /// The moves of a pass's results: the time at which the last side started
  /// each, and how many sides of the last have.
  struct Meeting {
    std::vector<int64_t> times;
    std::vector<int> sides;
  };

  void addSteps();
  bool step(size_t stage);

  const SteadyState &state;
  WorkTimes times;
  std::vector<std::vector<Step>> steps; ///< by stage
  std::vector<Place> places;
  std::vector<int64_t> computed;
  std::vector<Meeting> meetings; ///< by the pass that gives
};
} // namespace

void LoopClock::addSteps() {
  std::vector<std::optional<size_t>> readers(state.passes.size());
  for (size_t n = 0; n < state.passes.size(); ++n)
    if (auto source = state.sourceOf(n);
        source && state.passes[*source].stage != state.passes[n].stage)
      readers[*source] = n;
  auto both = [&](Step::Kind kind, size_t giver) {
    for (size_t each : {giver, *readers[giver]})
      steps[size_t(state.passes[each].stage)].push_back({kind, giver});
  };
  std::vector<size_t> open;
  for (size_t n = 0; n < state.passes.size(); ++n) {
    const StagePass &pass = state.passes[n];
    // What is of an iteration before was awaited at its end.
    auto source = state.sourceOf(n);
    if (source && readers[*source] == n &&
        state.passes[*source].delay == pass.delay) {
      std::erase(open, *source);
      both(Step::Kind::Wait, *source);
    }
    steps[size_t(pass.stage)].push_back({Step::Kind::Compute, n});
    if (readers[n]) {
      both(Step::Kind::Start, n);
      open.push_back(n);
    }
  }
  for (size_t giver : open)
    both(Step::Kind::Wait, giver);
}

/// Takes the next step of a stage; returns false if it waits, or has ended.
bool LoopClock::step(size_t stage) {
  Place &place = places[stage];
  if (place.iteration == state.iterations())
    return false;
  if (place.step == steps[stage].size()) {
    ++place.iteration;
    place.step = 0;
    return true;
  }
  const Step &its = steps[stage][place.step];
  const StagePass &pass = state.passes[its.pass];
  if (!state.hasMicrobatch(pass, place.iteration)) {
    ++place.step;
    return true;
  }
  auto number = size_t(place.iteration - pass.delay);
  Meeting &meeting = meetings[its.pass];
  meeting.times.resize(std::max(meeting.times.size(), number + 1));
  meeting.sides.resize(meeting.times.size());
  switch (its.kind) {
  case Step::Kind::Compute:
    place.now += times.of(pass.kind);
    computed[stage] += times.of(pass.kind);
    place.ended = place.now;
    break;
  case Step::Kind::Start:
    meeting.times[number] = std::max(meeting.times[number], place.now);
    ++meeting.sides[number];
    break;
  case Step::Kind::Wait:
    if (meeting.sides[number] < 2)
      return false;
    place.now = std::max(place.now, meeting.times[number]);
    break;
  }
  ++place.step;
  return true;
}

LoopReplay weft::pipeline::replay(const SteadyState &state,
                                  const WorkTimes &times) {
  return LoopClock(state, times).run();
}
