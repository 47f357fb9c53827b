//===- Replay.h - the time that a schedule takes ----------------*- C++ -*-===//
//
//   replay(*gpipe(2, 3), {})      F = B = W = 1
//
//   stage 0: F0 F1 F2 .. .. B0 B0 B1 B1 B2 B2         11 + 1 of time, 9 of work:
//   stage 1: .. F0 F1 F2 B0 B0 B1 B1 B2 B2 .. ..       a bubble of 3
//
// Each stage computes its items one after the other, as early as what they read
// is known. Nothing is counted for what is sent.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_REPLAY_H
#define WEFT_BASE_PIPELINE_REPLAY_H

#include "weft/base/pipeline/Schedule.h"

namespace weft::pipeline {

/// Times of one chunk of a stage.
struct WorkTimes {
  int64_t forward = 1, inputGradient = 1, weightGradient = 1;
  int64_t of(WorkKind kind) const;
};

struct Replay {
  std::vector<std::vector<int64_t>> starts; ///< one for each item of each stage
  int64_t end = 0;                          ///< the end of the last item
  std::vector<int64_t> idle; ///< idle time of each stage, until `end`
  /// The idle time of the stage that works most.
  int64_t bubble() const;
};

/// Replays a schedule that `check` accepts; others are errors, as there. Times
/// are at least 0 and at most 2^32.
Result<Replay> replay(const Schedule &schedule, const WorkTimes &times = {});

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_REPLAY_H
