//===- StepTimes.h - computing and communication over time ------*- C++ -*-===//
//
// What the devices of a step do, by the prices by which collectives are put
// under compute (StepClock.h):
//
//   devices    computing  communication  exposed    step
//   all             12.3           45.6     30.1    42.4  us
//
//   computing      ##..####........####
//   communication  .==!!===!!!!!!!!....
//
// '=' is communication while a device computes, '!' what is exposed: the device
// waits. Where links are not beside work, and no collective is awaited later,
// all communication is exposed, and nothing is told.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_STEPTIMES_H
#define WEFT_COMPILER_EXPLAIN_STEPTIMES_H

#include "weft/dialects/plan/Plan.h"
#include "weft/layout/MeshPart.h"

#include <string>
#include <vector>

namespace weft {

/// Seconds from the start of a step.
struct BusyTime {
  double begin, end;
  std::string what; ///< the kernel or the kind of collective
};

/// The times of the devices that run the same instructions.
struct StepTimes {
  std::string devices; ///< "all", or their part of the mesh
  double computing = 0, communication = 0, exposed = 0, step = 0; ///< seconds
  std::vector<BusyTime> computed, sent, waited;
};

/// The times of each class of devices; nothing where there is no overlap to
/// tell of. The body of a loop is told once, and its times count as often as it
/// runs.
std::vector<StepTimes> timesOf(plan::ProgramOp program);

/// A row of `width` characters: `mark` where one of the times is.
std::string rowOf(const std::vector<BusyTime> &times, double step, size_t width,
                  char mark);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_STEPTIMES_H
