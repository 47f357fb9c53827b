//===- RunResults.h - outputs that a run copies to the host -----*- C++ -*-===//
//
// One process asks its devices to copy the shards behind the run. Several
// exchange shards, which their runs do when they are over:
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

/// Checks results, and adds the copies of a run of one process. `outputs` has
/// the program's buffers.
Status bindResults(const Plan &plan, weft_buffer *const *outputs,
                   std::span<const weft_result> results, Run &run);
/// Makes the function that reads the results of several processes; it does
/// nothing for one.
std::function<Status()> resultReader(weft_buffer *const *outputs,
                                     std::span<const weft_result> results);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_RUNRESULTS_H
