//===- SteadyState.h - a schedule as a loop ---------------------*- C++ -*-===//
//
// The lists of a schedule grow with the number of microbatches, but most repeat
// themselves. 1F1B with two stages is a loop whose iteration has two passes of
// each stage:
//
//   pass          delay  iteration 0   1        2        3
//   F of stage 0  0      F0            F1       F2       -
//   F of stage 1  1      -             F0       F1       F2
//   B of stage 1  1      -             B0       B1       B2
//   B of stage 0  1      -             B0       B1       B2
//
//   stage 0: F0 F1 B0 F2 B1 B2     F0, then F1 and B0, then F2 and B1, then B2
//   stage 1: F0 B0 F1 B1 F2 B2
//
// A pass with delay d computes in iteration i its microbatch i - d, if there is
// one, and reads what passes in front of it, or of earlier iterations, have
// computed. Each stage goes through its passes by itself: it waits only for what
// it reads.
//
// An iteration of an interleaved schedule has a round of several microbatches:
// the pass with offset j of rounds of r computes microbatch r (i - d) + j.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_STEADYSTATE_H
#define WEFT_BASE_PIPELINE_STEADYSTATE_H

#include "weft/base/pipeline/Schedule.h"

namespace weft::pipeline {

/// What a stage computes of each microbatch, or of one in each round.
struct StagePass {
  int stage = 0;
  WorkKind kind = WorkKind::Forward;
  int chunk = 0;
  int offset = 0;    ///< of its microbatch in a round
  int64_t delay = 0; ///< iterations in which it has none at first
  bool operator==(const StagePass &) const = default;
};

struct SteadyState {
  int round = 1; ///< microbatches of an iteration
  int microbatches = 0;
  /// In the order of an iteration.
  std::vector<StagePass> passes;

  /// The number of microbatches that the pass computes.
  int64_t countOf(const StagePass &pass) const {
    return (microbatches - pass.offset + round - 1) / round;
  }
  int64_t microbatchOf(const StagePass &pass, int64_t iteration) const {
    return (iteration - pass.delay) * round + pass.offset;
  }
  bool hasMicrobatch(const StagePass &pass, int64_t iteration) const {
    return iteration >= pass.delay && iteration < pass.delay + countOf(pass);
  }
  int64_t iterations() const;
  /// The pass that gives a pass what it reads of another stage: the forward pass
  /// of the stage before, the gradient of the stage behind; nothing for the
  /// first.
  std::optional<size_t> sourceOf(size_t pass) const;
};

/// Passes that a loop may have.
inline constexpr int64_t kMostPasses = 4096;

/// The loop that computes the lists of a valid schedule, in their order; of
/// several the one in which stages wait the least. An error if no iteration
/// repeats the lists.
Result<SteadyState> steadyState(const Schedule &schedule);
/// The forward passes of a schedule, for steps without gradients: no valid
/// schedule, but one that has a loop.
Schedule forwardPasses(const Schedule &schedule);

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_STEADYSTATE_H
