//===- TimeLine.h - what stages compute over time, as text ------*- C++ -*-===//
//
//   timeLine(*gpipe(2, 3), *replay(*gpipe(2, 3)), 100)
//
//   F0 F1 F2 .  .  .  B0--- B1--- B2---
//   .  F0 F1 F2 B0--- B1--- B2--- .  .
//
// A column is a unit of time. The middle of a long line is left out: " ... ".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_TIMELINE_H
#define WEFT_BASE_PIPELINE_TIMELINE_H

#include "weft/base/pipeline/Replay.h"

namespace weft::pipeline {

/// A line of at most about `width` characters for each stage of a schedule that
/// has been replayed with these times.
std::vector<std::string> timeLine(const Schedule &schedule,
                                  const Replay &replay, size_t width,
                                  const WorkTimes &times = {});

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_TIMELINE_H
