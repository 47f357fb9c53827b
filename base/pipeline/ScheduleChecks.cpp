//===- ScheduleChecks.cpp - whether a schedule can run --------------------===//

#include "weft/base/pipeline/ScheduleChecks.h"

#include <algorithm>
#include <set>

using namespace weft;
using namespace weft::pipeline;

static std::string sizesOf(const Schedule &schedule) {
  return std::to_string(schedule.microbatches) + " microbatches and " +
         std::to_string(schedule.chunks) + " chunks";
}

//===----------------------------------------------------------------------===//
// Which items there are
//===----------------------------------------------------------------------===//

/// Names the first item that a stage lacks, or nothing. Looks at no more items
/// than the stage has, and one.
static std::optional<Work> firstMissing(const Schedule &schedule, int stage) {
  auto key = [](const Work &work) {
    return std::tuple(work.microbatch, work.chunk, int(work.kind));
  };
  std::set<std::tuple<int, int, int>> known;
  for (const Work &work : schedule.stages[size_t(stage)])
    known.insert(key(work));
  for (int m = 0; m < schedule.microbatches; ++m)
    for (int c = 0; c < schedule.chunks; ++c) {
      auto has = [&](WorkKind kind) { return known.count(key({kind, m, c})); };
      if (!has(WorkKind::Forward))
        return Work{WorkKind::Forward, m, c};
      if (has(WorkKind::Backward))
        continue;
      if (!has(WorkKind::InputGradient))
        return Work{has(WorkKind::WeightGradient) ? WorkKind::InputGradient
                                                  : WorkKind::Backward,
                    m, c};
      if (!has(WorkKind::WeightGradient))
        return Work{WorkKind::WeightGradient, m, c};
    }
  return std::nullopt;
}

size_t ScheduleIndex::slot(int stage, const Work &work) const {
  size_t at = size_t(stage) * size_t(schedule->chunks) + size_t(work.chunk);
  at = at * size_t(schedule->microbatches) + size_t(work.microbatch);
  return at * kWorkKinds + size_t(work.kind);
}

/// Adds an item. Refuses one of no microbatch of the schedule, and a second one
/// for the same result.
Status ScheduleIndex::add(int stage, int item) {
  const Work &work = schedule->stages[size_t(stage)][size_t(item)];
  if (work.microbatch < 0 || work.microbatch >= schedule->microbatches ||
      work.chunk < 0 || work.chunk >= schedule->chunks)
    return Error{placeOf(*schedule, stage, item) + ": is of microbatch " +
                 std::to_string(work.microbatch) + " and chunk " +
                 std::to_string(work.chunk) + ", and the schedule has " +
                 sizesOf(*schedule) + ", counted from 0; remove it"};
  std::vector<WorkKind> same = {work.kind};
  if (work.kind == WorkKind::Backward)
    same = {WorkKind::Backward, WorkKind::InputGradient,
            WorkKind::WeightGradient};
  else if (work.kind != WorkKind::Forward)
    same.push_back(WorkKind::Backward);
  for (WorkKind kind : same) {
    int &known = items[slot(stage, {kind, work.microbatch, work.chunk})];
    if (known >= 0)
      return Error{placeOf(*schedule, stage, item) + ": computes what item " +
                   std::to_string(known) + " (" +
                   textOf(schedule->stages[size_t(stage)][size_t(known)]) +
                   ") has computed for microbatch " +
                   std::to_string(work.microbatch) + "; remove one of them"};
  }
  items[slot(stage, work)] = item;
  return {};
}

Status ScheduleIndex::checkComplete() const {
  for (int stage = 0; stage < int(schedule->stages.size()); ++stage)
    if (auto work = firstMissing(*schedule, stage))
      return Error{"stage " + std::to_string(stage) + ": has no item " +
                   textOf(*work) + " for microbatch " +
                   std::to_string(work->microbatch) +
                   ", and the schedule has " + sizesOf(*schedule) +
                   "; add it, or change the numbers"};
  return {};
}

Result<ScheduleIndex> ScheduleIndex::of(const Schedule &schedule) {
  if (schedule.stages.empty() || schedule.microbatches < 1 ||
      schedule.chunks < 1)
    return Error{"the schedule has " + std::to_string(schedule.stages.size()) +
                 " stages, " + sizesOf(schedule) + "; each is at least 1"};
  ScheduleIndex index(schedule);
  if (Status status = index.checkComplete(); !status)
    return status.error();
  // Each stage has two items of each microbatch and chunk, so this is bounded.
  index.items.assign(schedule.stages.size() * size_t(schedule.chunks) *
                         size_t(schedule.microbatches) * kWorkKinds,
                     -1);
  for (int stage = 0; stage < int(schedule.stages.size()); ++stage)
    for (int item = 0; item < int(schedule.stages[size_t(stage)].size());
         ++item)
      if (Status status = index.add(stage, item); !status)
        return status.error();
  return index;
}

//===----------------------------------------------------------------------===//
// The items that an item waits for
//===----------------------------------------------------------------------===//

ItemPlace ScheduleIndex::find(int stage, const Work &work) const {
  int item = items[slot(stage, work)];
  if (item < 0)
    item =
        items[slot(stage, {WorkKind::Backward, work.microbatch, work.chunk})];
  return {stage, item};
}

std::optional<ItemPlace> ScheduleIndex::source(ItemPlace place) const {
  Work work = schedule->stages[size_t(place.stage)][size_t(place.item)];
  if (work.kind == WorkKind::WeightGradient)
    return std::nullopt;
  int stages = int(schedule->stages.size());
  bool isForward = work.kind == WorkKind::Forward;
  int stage = place.stage + (isForward ? -1 : 1);
  if (stage < 0 || stage == stages) {
    work.chunk += isForward ? -1 : 1;
    if (work.chunk < 0 || work.chunk == schedule->chunks)
      return std::nullopt;
    stage = isForward ? stages - 1 : 0;
  }
  if (!isForward)
    work.kind = WorkKind::InputGradient;
  return find(stage, work);
}

std::vector<ItemPlace> ScheduleIndex::needs(ItemPlace place) const {
  Work work = schedule->stages[size_t(place.stage)][size_t(place.item)];
  std::vector<ItemPlace> needed;
  if (work.kind == WorkKind::WeightGradient)
    work.kind = WorkKind::InputGradient;
  else if (work.kind == WorkKind::Forward)
    work.kind = WorkKind::WeightGradient; // nothing of its own stage
  else
    work.kind = WorkKind::Forward;
  if (work.kind != WorkKind::WeightGradient)
    needed.push_back(find(place.stage, work));
  if (auto from = source(place))
    needed.push_back(*from);
  return needed;
}

//===----------------------------------------------------------------------===//
// Whether all items can run
//===----------------------------------------------------------------------===//

namespace {
/// Takes the items of all stages, each as soon as what it reads is computed.
class Progress {
public:
  Progress(const Schedule &schedule [[clang::lifetimebound]],
           const ScheduleIndex &index [[clang::lifetimebound]])
      : schedule(schedule), index(index), next(schedule.stages.size()) {}
  Status run();

private:
  bool isDone(ItemPlace place) const {
    return place.item < next[size_t(place.stage)];
  }
  std::optional<ItemPlace> awaited(int stage) const;
  Error describe(int stage) const;
  std::string text(ItemPlace place) const {
    return placeOf(schedule, place.stage, place.item);
  }

  const Schedule &schedule;
  const ScheduleIndex &index;
  std::vector<int> next; ///< the item that each stage is at
};
} // namespace

/// What the stage's next item waits for; nothing if it can be computed, or if
/// the stage is at its end.
std::optional<ItemPlace> Progress::awaited(int stage) const {
  int item = next[size_t(stage)];
  if (item == int(schedule.stages[size_t(stage)].size()))
    return std::nullopt;
  for (ItemPlace need : index.needs({stage, item}))
    if (!isDone(need))
      return need;
  return std::nullopt;
}

Status Progress::run() {
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (size_t stage = 0; stage < next.size(); ++stage)
      while (next[stage] < int(schedule.stages[stage].size()) &&
             !awaited(int(stage))) {
        ++next[stage];
        isChanged = true;
      }
  }
  for (size_t stage = 0; stage < next.size(); ++stage)
    if (next[stage] < int(schedule.stages[stage].size()))
      return describe(int(stage));
  return {};
}

/// The stages that wait for each other, from a stage that waits.
Error Progress::describe(int stage) const {
  std::vector<bool> seen(next.size());
  while (!seen[size_t(stage)]) { // to a stage of the cycle
    seen[size_t(stage)] = true;
    stage = awaited(stage)->stage;
  }
  ItemPlace here{stage, next[size_t(stage)]};
  ItemPlace need = *awaited(stage);
  const Work &work = schedule.stages[size_t(stage)][size_t(here.item)];
  std::string of = " of microbatch " + std::to_string(work.microbatch);
  if (need.stage == stage)
    return {text(here) + ": needs the result of item " +
            std::to_string(need.item) + " (" +
            textOf(schedule.stages[size_t(stage)][size_t(need.item)]) + ")" +
            of + ", which comes later; move that in front of it"};
  std::string message = "the schedule deadlocks: " + text(here) + of;
  ItemPlace first = need;
  for (int steps = 0; steps < 8; ++steps) {
    message += " waits for " + text(need);
    if (need.stage == stage)
      break;
    ItemPlace next{need.stage, this->next[size_t(need.stage)]};
    if (next.item != need.item)
      message +=
          ", which is behind item " + std::to_string(next.item) + " (" +
          textOf(schedule.stages[size_t(next.stage)][size_t(next.item)]) +
          "), and that";
    else
      message += ", which";
    need = *awaited(next.stage);
  }
  return {message + "; move item " + std::to_string(first.item) + " of stage " +
          std::to_string(first.stage) + " forward"};
}

/// Proves that what a stage sends to another is received in the order in which
/// it is sent.
static Status checkChannels(const Schedule &schedule,
                            const ScheduleIndex &index) {
  for (int stage = 0; stage < int(schedule.stages.size()); ++stage) {
    const std::vector<Work> &list = schedule.stages[size_t(stage)];
    int before[2] = {-1, -1}; // the last items that were received
    for (int item = 0; item < int(list.size()); ++item) {
      auto from = index.source({stage, item});
      if (!from || from->stage == stage)
        continue;
      bool isForward = list[size_t(item)].kind == WorkKind::Forward;
      int &last = before[isForward ? 0 : 1];
      if (from->item < last) {
        const auto &sender = schedule.stages[size_t(from->stage)];
        auto named = [&](int which) { return textOf(sender[size_t(which)]); };
        return Error{
            placeOf(schedule, stage, item) + ": receives " +
            (isForward ? "the activations" : "the gradient") +
            " of microbatch " + std::to_string(list[size_t(item)].microbatch) +
            " after those of " + named(last) + ", and stage " +
            std::to_string(from->stage) + " sends " + named(from->item) +
            " first, as item " + std::to_string(from->item) + " before item " +
            std::to_string(last) + "; give both stages the same order"};
      }
      last = from->item;
    }
  }
  return {};
}

Status weft::pipeline::check(const Schedule &schedule) {
  Result<ScheduleIndex> index = ScheduleIndex::of(schedule);
  if (!index)
    return index.error();
  if (Status status = Progress(schedule, *index).run(); !status)
    return status;
  return checkChannels(schedule, *index);
}

std::vector<int> weft::pipeline::liveActivations(const Schedule &schedule) {
  std::vector<int> most;
  for (const std::vector<Work> &list : schedule.stages) {
    int live = 0, peak = 0;
    for (const Work &work : list) {
      if (work.kind == WorkKind::Forward)
        peak = std::max(peak, ++live);
      else if (work.kind != WorkKind::InputGradient)
        --live;
    }
    most.push_back(peak);
  }
  return most;
}
