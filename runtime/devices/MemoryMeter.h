//===- MemoryMeter.h - memory of programs on each device --------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_MEMORYMETER_H
#define WEFT_RUNTIME_DEVICES_MEMORYMETER_H

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace weft::runtime {

/// Counts the bytes of all DeviceMemory and arenas over time. Shared by a
/// runtime and its buffers, which may outlive it.
class MemoryMeter {
public:
  explicit MemoryMeter(int64_t devices) : held(size_t(devices)) {}

  void add(int64_t device, int64_t bytes) {
    std::lock_guard<std::mutex> guard(mutex);
    held[size_t(device)] += bytes;
    most = std::max(most, held[size_t(device)]);
  }
  /// The peak of a device, the largest over devices.
  int64_t peak() const {
    std::lock_guard<std::mutex> guard(mutex);
    return most;
  }

private:
  mutable std::mutex mutex;
  std::vector<int64_t> held;
  int64_t most = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_MEMORYMETER_H
