//===- SteadyState.h - a schedule as a loop ---------------------*- C++ -*-===//
//
// The lists of a schedule grow with the number of microbatches, but most repeat
// themselves. 1F1B with two stages is a loop whose iteration has two ticks:
//
//   pass          tick   iteration 0   1        2        3
//   F of stage 0  0      F0            F1       F2       -
//   B of stage 1  2      -             B0       B1       B2
//   F of stage 1  1      F0            F1       F2       -
//   B of stage 0  3      -             B0       B1       B2
//
//   stage 0: F0 F1 B0 F2 B1 B2     F0, then F1 and B0, then F2 and B1, then B2
//   stage 1: F0 B0 F1 B1 F2 B2
//
// With a period of P ticks, the pass at tick T computes microbatch m in tick
// T + P m, which is tick T mod P of iteration T div P + m: iteration i has its
// microbatch i - T div P, if there is one. A pass depends on those of earlier
// ticks only, so all stages compute their pass of a tick side by side.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_STEADYSTATE_H
#define WEFT_BASE_PIPELINE_STEADYSTATE_H

#include "weft/base/pipeline/Schedule.h"

namespace weft::pipeline {

/// What a stage computes of each microbatch, one after the other.
struct StagePass {
  int stage = 0;
  WorkKind kind = WorkKind::Forward;
  int chunk = 0;
  int64_t tick = 0; ///< the tick of microbatch 0
};

struct SteadyState {
  int period = 1; ///< ticks of an iteration
  int microbatches = 0;
  /// In the order of an iteration: by tick, then by stage.
  std::vector<StagePass> passes;

  int64_t tickOf(const StagePass &pass) const { return pass.tick % period; }
  /// The iterations by which the pass is later than the first.
  int64_t delayOf(const StagePass &pass) const { return pass.tick / period; }
  int64_t iterations() const;
};

/// The loop with the fewest ticks that computes the lists of a valid schedule,
/// in their order; an error if each list does not compute its microbatches in
/// their order, or in rounds of several, as interleaved schedules do.
Result<SteadyState> steadyState(const Schedule &schedule);
/// The forward passes of a schedule, for steps without gradients: no valid
/// schedule, but one that has a loop.
Schedule forwardPasses(const Schedule &schedule);

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_STEADYSTATE_H
