//===- RunResults.h - outputs that a run copies to the host -----*- C++ -*-===//
//
// Devices copy the shards after the run. Shards that a process lacks are
// exchanged when the run is over:
//
//   if (Status ok = bindResults(plan, outputs, results, run); !ok) return ok;
//   run.ended = [read = resultReader(outputs, results)] { return read(); };
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_RUNRESULTS_H
#define WEFT_RUNTIME_DEVICES_RUNRESULTS_H

#include "weft/runtime/devices/Runtime.h"

#include <functional>

namespace weft::runtime {

/// Checks results, and adds to a run the copies of those of which each process
/// has all shards. `outputs` has the program's buffers.
Status bindResults(const Plan &plan, weft_buffer *const *outputs,
                   std::span<const weft_result> results, Run &run);
/// Makes the function that reads the other results; all processes call it.
std::function<Status()> resultReader(weft_buffer *const *outputs,
                                     std::span<const weft_result> results);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_RUNRESULTS_H
