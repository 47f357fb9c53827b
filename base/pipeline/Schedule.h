//===- Schedule.h - what the stages of a pipeline compute -------*- C++ -*-===//
//
// A pipeline has stages, each on its own devices, and a batch in microbatches.
// A schedule lists for each stage its items in their order. 1F1B with two stages
// and three microbatches is
//
//   stage 0: F0 F1 B0 F2 B1 B2
//   stage 1: F0 B0 F1 B1 F2 B2
//
//   F2    forward pass of microbatch 2
//   B2    its backward pass: both gradients
//   I2    its gradients of the stage's inputs, for the stage before
//   W2    its gradients of the stage's weights, after I2
//   F2.1  forward pass of microbatch 2 through chunk 1
//
// A stage may have several chunks of the model: with 2 stages and 2 chunks a
// microbatch passes stage 0, stage 1, stage 0 (chunk 1), stage 1 (chunk 1).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_SCHEDULE_H
#define WEFT_BASE_PIPELINE_SCHEDULE_H

#include "weft/base/Result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::pipeline {

enum class WorkKind : uint8_t {
  Forward,
  InputGradient,
  WeightGradient,
  Backward, ///< both gradients, which are known at its end
};
inline constexpr int kWorkKinds = 4;

/// An item of a stage's list.
struct Work {
  WorkKind kind = WorkKind::Forward;
  int microbatch = 0, chunk = 0;
  bool operator==(const Work &) const = default;
};

/// F3, or F3.1 for chunk 1.
std::string textOf(const Work &work);
/// Reads such a text; nothing if it is none.
std::optional<Work> workOf(std::string_view text);

struct Schedule {
  int microbatches = 0, chunks = 1;
  std::vector<std::vector<Work>> stages;
  bool operator==(const Schedule &) const = default;
};

/// The items of a stage as text: F0 F1 B0 F2 B1 B2.
std::string textOf(const std::vector<Work> &list);
/// The schedule of such texts, with as many microbatches and chunks as they name;
/// not checked. An error names the item.
Result<Schedule> scheduleOf(const std::vector<std::string> &lists);

/// Items that a schedule may have in all its lists.
inline constexpr int64_t kMostItems = int64_t(1) << 22;

/// Where an item stands: `stage 1, item 3 (B0)`, counted from 0.
std::string placeOf(const Schedule &schedule, int stage, int item);

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_SCHEDULE_H
