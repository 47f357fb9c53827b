//===- Generators.cpp - the schedules of the literature -------------------===//

#include "weft/base/pipeline/Generators.h"

#include "weft/base/ClosestName.h"

#include <algorithm>

using namespace weft;
using namespace weft::pipeline;

/// Checks the sizes of a schedule with at most `each` items for a microbatch and
/// chunk of a stage.
static Status checkSizes(int stages, int microbatches, int chunks,
                         int64_t each) {
  if (stages < 1 || microbatches < 1 || chunks < 1)
    return Error{"a schedule of " + std::to_string(stages) + " stages, " +
                 std::to_string(microbatches) + " microbatches and " +
                 std::to_string(chunks) +
                 " chunks has nothing to compute; each is at least 1"};
  int64_t lists = int64_t(stages) * each;
  int64_t items = int64_t(microbatches) * chunks;
  if (lists > kMostItems || items > kMostItems / lists)
    return Error{"a schedule of " + std::to_string(stages) + " stages, " +
                 std::to_string(microbatches) + " microbatches and " +
                 std::to_string(chunks) + " chunks has more than " +
                 std::to_string(kMostItems) + " items; use fewer microbatches"};
  return {};
}

Result<Schedule> weft::pipeline::gpipe(int stages, int microbatches) {
  if (Status status = checkSizes(stages, microbatches, 1, 2); !status)
    return status.error();
  std::vector<Work> list;
  for (WorkKind kind : {WorkKind::Forward, WorkKind::Backward})
    for (int m = 0; m < microbatches; ++m)
      list.push_back({kind, m, 0});
  return Schedule{microbatches, 1, {size_t(stages), list}};
}

/// Appends the forward passes of `ahead` numbers, and then, for each number,
/// one further forward pass and what follows its own.
template <typename Forward, typename Others>
static void takeTurns(std::vector<Work> &list, int ahead, int all,
                      Forward forward, Others others) {
  for (int k = 0; k < ahead; ++k)
    list.push_back(forward(k));
  for (int k = 0; k < all; ++k) {
    if (k + ahead < all)
      list.push_back(forward(k + ahead));
    others(k);
  }
}

static Work forwardOf(int microbatch) {
  return {WorkKind::Forward, microbatch, 0};
}

Result<Schedule> weft::pipeline::oneForwardOneBackward(int stages,
                                                       int microbatches) {
  if (Status status = checkSizes(stages, microbatches, 1, 2); !status)
    return status.error();
  Schedule schedule{microbatches, 1, {}};
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Work> &list = schedule.stages.emplace_back();
    takeTurns(list, std::min(stages - 1 - stage, microbatches), microbatches,
              forwardOf,
              [&](int m) { list.push_back({WorkKind::Backward, m, 0}); });
  }
  return schedule;
}

/// The k-th forward or backward pass of a stage: rounds of `stages` microbatches
/// pass one chunk after the other.
static Work passOf(WorkKind kind, int k, int stages, int chunks) {
  int round = k / (stages * chunks), chunk = k / stages % chunks;
  return {kind, round * stages + k % stages,
          kind == WorkKind::Forward ? chunk : chunks - 1 - chunk};
}

Result<Schedule> weft::pipeline::interleaved(int stages, int microbatches,
                                             int chunks) {
  if (Status status = checkSizes(stages, microbatches, chunks, 2); !status)
    return status.error();
  if (microbatches % stages != 0)
    return Error{"an interleaved schedule has rounds of as many microbatches "
                 "as stages, and " +
                 std::to_string(microbatches) +
                 " microbatches are no multiple "
                 "of " +
                 std::to_string(stages) + " stages; use " +
                 std::to_string((microbatches / stages + 1) * stages) +
                 " microbatches"};
  Schedule schedule{microbatches, chunks, {}};
  int all = microbatches * chunks;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Work> &list = schedule.stages.emplace_back();
    int64_t wanted = chunks == 1 ? stages - 1 - stage
                                 : int64_t(stages - 1 - stage) * 2 +
                                       int64_t(chunks - 1) * stages;
    int ahead = int(std::min<int64_t>(wanted, all));
    auto pass = [&](WorkKind kind, int k) {
      return passOf(kind, k, stages, chunks);
    };
    takeTurns(
        list, ahead, all, [&](int k) { return pass(WorkKind::Forward, k); },
        [&](int k) { list.push_back(pass(WorkKind::Backward, k)); });
  }
  return schedule;
}

Result<Schedule> weft::pipeline::zeroBubble(int stages, int microbatches) {
  if (Status status = checkSizes(stages, microbatches, 1, 3); !status)
    return status.error();
  Schedule schedule{microbatches, 1, {}};
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Work> &list = schedule.stages.emplace_back();
    // Later stages have fewer microbatches ahead, so that they may hold as many
    // more whose gradients of weights are to come.
    takeTurns(list, std::min(stages - 1 - stage, microbatches), microbatches,
              forwardOf, [&](int m) {
                list.push_back({WorkKind::InputGradient, m, 0});
                if (m >= stage)
                  list.push_back({WorkKind::WeightGradient, m - stage, 0});
              });
    for (int m = std::max(microbatches - stage, 0); m < microbatches; ++m)
      list.push_back({WorkKind::WeightGradient, m, 0});
  }
  return schedule;
}

const std::vector<std::string> &weft::pipeline::scheduleNames() {
  static const std::vector<std::string> names = {"gpipe", "1f1b", "interleaved",
                                                 "zb-h1"};
  return names;
}

Result<Schedule> weft::pipeline::generate(const std::string &name, int stages,
                                          int microbatches, int chunks) {
  if (name == "interleaved")
    return interleaved(stages, microbatches, chunks);
  if (std::ranges::count(scheduleNames(), name) && chunks != 1)
    return Error{
        "schedule \"" + name + "\" has one chunk for each stage, not " +
        std::to_string(chunks) + "; use \"interleaved\", or one chunk"};
  if (name == "gpipe")
    return gpipe(stages, microbatches);
  if (name == "1f1b")
    return oneForwardOneBackward(stages, microbatches);
  if (name == "zb-h1")
    return zeroBubble(stages, microbatches);
  return Error{"\"" + name + "\" is no schedule; " +
               suggestion(name,
                          {scheduleNames().begin(), scheduleNames().end()},
                          "use gpipe, 1f1b, interleaved or zb-h1")};
}
