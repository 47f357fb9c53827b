//===- Ownership.h - which process runs which device ------------*- C++ -*-===//
//
// Devices are divided contiguously, the first processes get one more: 8 devices
// over 3 processes are 0 1 2 | 3 4 5 | 6 7.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROCESSES_OWNERSHIP_H
#define WEFT_RUNTIME_PROCESSES_OWNERSHIP_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::runtime {

/// The rank of the process that runs a device.
inline int rankOfDevice(int64_t device, int64_t devices, int processes) {
  int64_t least = devices / processes, more = devices % processes;
  if (device < more * (least + 1))
    return int(device / (least + 1));
  return int(more + (device - more * (least + 1)) / least);
}

/// The ranks of a mesh's positions.
struct Ownership {
  int rank = 0;
  /// The ranks by position; empty if this process has all devices.
  std::vector<int> ranks;

  int of(int64_t position) const {
    return ranks.empty() ? rank : ranks[std::size_t(position)];
  }
  bool isOwn(int64_t position) const { return of(position) == rank; }
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROCESSES_OWNERSHIP_H
