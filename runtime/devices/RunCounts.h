//===- RunCounts.h - what collectives of a run sent -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_RUNCOUNTS_H
#define WEFT_RUNTIME_DEVICES_RUNCOUNTS_H

#include "weft/runtime/devices/Runtime.h"

namespace weft::runtime {

/// Whether processes may count different collectives: devices may take different
/// branches, or a process has none of the mesh.
bool countsApart(const weft_runtime &runtime, const Plan &plan);
/// Takes the most occurrences and bytes of any process; all processes call it.
Status countElsewhere(weft_runtime &runtime, CollectiveCounts &counts);
/// Sets the counters of a runtime to those of its last run.
void count(weft_runtime &runtime, const Plan &plan,
           const CollectiveCounts &counts);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_RUNCOUNTS_H
