//===- PinnedMemory.h - memory of the host for copies -----------*- C++ -*-===//
//
// The driver copies to and from pinned memory while the host continues. Pinning
// takes milliseconds, so memory is kept for later copies:
//
//   PinnedMemory slot(gpu);
//   if (Status ok = slot.reserve(bytes, "staged arrays"); !ok) return ok;
//   std::memcpy(slot.start(), host, bytes);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_PINNEDMEMORY_H
#define WEFT_RUNTIME_DEVICES_CUDA_PINNEDMEMORY_H

#include "weft/runtime/devices/cuda/Gpu.h"

namespace weft::runtime {

/// No copy may use the memory when it is reserved again or freed.
class PinnedMemory {
public:
  PinnedMemory() = default;
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;

  /// Gets at least `bytes` bytes; drops the contents if there were fewer.
  Status reserve(const std::shared_ptr<const Gpu> &gpu, uint64_t bytes,
                 const char *purpose);
  /// Leaves the memory to the end of the process, for a GPU that failed.
  void abandon() { memory = nullptr; }
  uint8_t *start() const { return static_cast<uint8_t *>(memory); }

private:
  std::shared_ptr<const Gpu> owner;
  void *memory = nullptr;
  uint64_t size = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_PINNEDMEMORY_H
