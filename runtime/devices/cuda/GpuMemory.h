//===- GpuMemory.h - memory of a GPU ----------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUMEMORY_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUMEMORY_H

#include "weft/runtime/devices/DeviceSet.h"
#include "weft/runtime/devices/MemoryMeter.h"
#include "weft/runtime/devices/cuda/Uploads.h"

namespace weft::runtime {

/// Memory of a GPU, aligned to 256 bytes, and counted for a device while it
/// exists.
class GpuMemory final : public DeviceMemory {
public:
  /// Allocates memory of undefined contents. A StatusCode::OutOfMemory error has the
  /// purpose, the requested bytes and the free ones.
  static Status allocate(std::shared_ptr<const Gpu> gpu, int64_t device,
                         uint64_t bytes, const std::string &what,
                         std::shared_ptr<MemoryMeter> meter,
                         std::unique_ptr<GpuMemory> &out);
  /// Allocates a copy of bytes of the host, complete when the call returns.
  static Status copyOf(std::span<const uint8_t> bytes,
                       std::shared_ptr<const Gpu> gpu, int64_t device,
                       const std::string &what,
                       std::shared_ptr<MemoryMeter> meter,
                       std::unique_ptr<GpuMemory> &out);
  /// Makes `bytes` bytes of other memory, from `first` on, an own array.
  static std::unique_ptr<GpuMemory> partOf(std::shared_ptr<GpuMemory> whole,
                                           uint64_t first, uint64_t bytes,
                                           int64_t device,
                                           std::shared_ptr<MemoryMeter> meter);
  /// Whether both are parts of the same memory.
  bool isNeighbour(const GpuMemory &other) const {
    return whole && whole == other.whole;
  }
  ~GpuMemory() override;
  const std::shared_ptr<const Gpu> &gpu() const { return owner; }
  cuda::Address place() const { return reinterpret_cast<cuda::Address>(start); }
  /// Sets a copy to this memory that may be running; the destructor waits for
  /// it.
  void setArriving(std::shared_ptr<const GpuEvent> copied) {
    arriving = std::move(copied);
  }

  const std::shared_ptr<const GpuEvent> &arrival() const { return arriving; }

  /// Counts writes of the host.
  uint64_t countWrite() { return ++writes; }
  bool isWrittenOften() const { return writes > 1; }
  /// Where the array's bytes wait for a run; null until they do.
  std::unique_ptr<Uploads::Array> upload;

private:
  GpuMemory(std::shared_ptr<const Gpu> gpu, int64_t device,
            std::shared_ptr<MemoryMeter> meter)
      : owner(std::move(gpu)), device(device), meter(std::move(meter)) {}
  std::shared_ptr<const Gpu> owner;
  int64_t device;
  std::shared_ptr<MemoryMeter> meter;
  std::shared_ptr<GpuMemory> whole; ///< that this is a part of, if any
  std::shared_ptr<const GpuEvent> arriving;
  uint64_t writes = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUMEMORY_H
