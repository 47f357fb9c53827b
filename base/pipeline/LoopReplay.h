//===- LoopReplay.h - the time that a pipeline's loop takes -----*- C++ -*-===//
//
// What a pass gives another stage is moved behind the pass. Two stages meet at a
// move: it is made when both have started it, and each waits for it in front of
// the pass that reads it in the same iteration, or at the iteration's end. 1F1B
// with two stages, F = B = 2:
//
//   stage 0: F0 F0 F1 F1 .. .. B0 B0 F2 F2
//   stage 1: .. .. F0 F0 B0 B0 F1 F1 B1 B1
//
// A stage waits for no other stages than those that it gives something to or
// takes something from.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_LOOPREPLAY_H
#define WEFT_BASE_PIPELINE_LOOPREPLAY_H

#include "weft/base/pipeline/Replay.h"
#include "weft/base/pipeline/SteadyState.h"

namespace weft::pipeline {

struct LoopReplay {
  int64_t end = 0;           ///< of the last pass
  std::vector<int64_t> idle; ///< of each stage, until `end`
  /// The idle time of the stage that works most.
  int64_t bubble() const;
};

/// Replays a loop with these times of passes; moves take none.
LoopReplay replay(const SteadyState &state, const WorkTimes &times = {});

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_LOOPREPLAY_H
