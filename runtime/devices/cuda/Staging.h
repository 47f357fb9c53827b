//===- Staging.h - arrays on their way to a GPU -----------------*- C++ -*-===//
//
// Arrays of any size pass through a ring of slots of pinned memory:
//
//   std::lock_guard<std::mutex> guard(staging.mutex);
//   Staging::Slot *slot = nullptr;
//   if (Status ok = staging.take(bytes, slot); !ok) return ok;   // its last copy is over
//   std::memcpy(slot->memory.start(), host, bytes);
//   cuMemcpyHtoDAsync(..., slot->memory.start(), bytes, stream);
//   slot->copied->record(stream);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_STAGING_H
#define WEFT_RUNTIME_DEVICES_CUDA_STAGING_H

#include "weft/runtime/devices/cuda/PinnedMemory.h"

#include <array>

namespace weft::runtime {

class Staging {
public:
  /// The largest slot; a longer array is copied through several slots.
  static constexpr uint64_t kMostBytes = 32 << 20;

  explicit Staging(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  /// Waits for running copies.
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  struct Slot {
    PinnedMemory memory;
    std::shared_ptr<GpuEvent> copied; ///< recorded after the last copy
  };
  /// Gets a slot of at least `bytes` bytes, once its last copy is done.
  Status take(uint64_t bytes, Slot *&out);

  /// Notes that a slot's copy is enqueued, and its event recorded.
  void noteCopy(const Slot &slot) {
    latest = slot.copied;
    ++copies;
  }
  /// Makes a stream wait for all copies so far. `isLead`: whether it is the one
  /// stream that remembers for which copies it waits already.
  Status await(const GpuStream &stream, bool isLead);

  std::mutex mutex; ///< held from taking a slot until its copy is enqueued

private:
  std::shared_ptr<const Gpu> gpu;
  std::array<Slot, 2> slots;
  size_t next = 0;
  std::shared_ptr<const GpuEvent> latest; ///< after the last copy
  uint64_t copies = 0, awaited = 0;       ///< all, and those the lead waits for
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_STAGING_H
