//===- Deadlock.h - describes devices in a deadlock -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVES_DEADLOCK_H
#define WEFT_RUNTIME_COLLECTIVES_DEADLOCK_H

#include "weft/runtime/processes/Ownership.h"
#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// The position of a device in its program.
struct Standing {
  uint32_t pc = 0;
  bool isWaiting = false; ///< waits for others of its group
  bool hasReturned = false;
  /// Collectives that it has started and that have not ended, unless it waits
  /// for them.
  std::vector<uint32_t> underWay = {};
};

/// The message of a deadlock: for at most 16 devices, by position, that cannot
/// continue, the collective and the devices that each waits for; then the
/// number of the others.
WEFT_EXPORT std::string describeDeadlock(const Plan &plan,
                                         const Ownership &ownership,
                                         std::span<const Standing> devices);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_DEADLOCK_H
