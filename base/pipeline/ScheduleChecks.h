//===- ScheduleChecks.h - whether a schedule can run ------------*- C++ -*-===//
//
//   stage 0: F0 F1 B1 B0     refused: B1 of stage 0 needs the gradient of B1 of
//   stage 1: F0 F1 B0 B1     stage 1, and stage 0 would receive that of B0 first
//
// A schedule is proved by running it without numbers: each stage takes its items
// in order, and an item waits for what it reads. What a stage sends to another is
// received in the order in which it was sent, one order for activations and one
// for gradients.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_SCHEDULECHECKS_H
#define WEFT_BASE_PIPELINE_SCHEDULECHECKS_H

#include "weft/base/pipeline/Schedule.h"

namespace weft::pipeline {

/// An item of a schedule, by the positions of its stage and in the stage's list.
struct ItemPlace {
  int stage = 0, item = 0;
  bool operator==(const ItemPlace &) const = default;
};

/// Where each item of a schedule is, and what it waits for.
class ScheduleIndex {
public:
  /// An error names the stage and the item that is missing, of no microbatch or
  /// chunk of the schedule, or there twice.
  static Result<ScheduleIndex> of(const Schedule &schedule
                                  [[clang::lifetimebound]]);

  /// The item of a stage that computes this; the joint backward pass for one of
  /// the two gradients.
  ItemPlace find(int stage, const Work &work) const;
  /// The items that must end before this one begins, in the order: forward pass
  /// of the stage, then of the stage before, gradient of the next stage.
  std::vector<ItemPlace> needs(ItemPlace place) const;
  /// The item of another stage whose result this one receives.
  std::optional<ItemPlace> source(ItemPlace place) const;

private:
  explicit ScheduleIndex(const Schedule &schedule) : schedule(&schedule) {}
  size_t slot(int stage, const Work &work) const;
  Status add(int stage, int item);
  Status checkComplete() const;

  const Schedule *schedule;
  std::vector<int>
      items; ///< by stage, chunk, microbatch and kind; -1 if absent
};

/// Proves that each stage has each pass of each microbatch once, that all items
/// can be computed in the lists' order, and that what stages send each other is
/// received in the order in which it was sent. An error names stage, item and
/// microbatch, what it waits for, and what to change.
Status check(const Schedule &schedule);

/// The most activations that each stage holds at a time. A stage holds those of
/// a microbatch and chunk from the forward pass to the end of the last gradient.
std::vector<int> liveActivations(const Schedule &schedule);

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_SCHEDULECHECKS_H
