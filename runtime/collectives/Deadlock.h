//===- Deadlock.h - who waits for whom --------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVES_DEADLOCK_H
#define WEFT_RUNTIME_COLLECTIVES_DEADLOCK_H

#include "weft/runtime/processes/Ownership.h"
#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// Where a device is in its program.
struct Standing {
  uint32_t pc = 0;
  bool isWaiting = false; ///< for the others of its group
  bool hasReturned = false;
};

/// A message for devices, by position, that cannot go on: at which collective
/// each waits, and for whom.
WEFT_EXPORT std::string describeDeadlock(const Plan &plan,
                                         const Ownership &ownership,
                                         std::span<const Standing> devices);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_DEADLOCK_H
