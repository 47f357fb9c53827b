#include "weft/runtime/devices/cuda/GpuTables.h"

#include <algorithm>

namespace weft::runtime {

uint64_t GpuTables::addPointers(const std::vector<int64_t> &members,
                                const std::vector<Collective::Array> &arrays) {
  uint64_t start = slots.size() * sizeof(cuda::Address);
  for (int64_t position : members)
    for (const Collective::Array &array : arrays)
      slots.push_back({position, array.buffer});
  return start;
}

uint64_t GpuTables::addPointers(const std::vector<Slot> &given) {
  uint64_t start = slots.size() * sizeof(cuda::Address);
  slots.insert(slots.end(), given.begin(), given.end());
  return start;
}

Status GpuTables::place(std::shared_ptr<MemoryMeter> given) {
  meter = std::move(given);
  Status ok = GpuMemory::copyOf(rows, gpu, device, "tables of collectives",
                                meter, placedRows);
  rows = {};
  return ok;
}

Status GpuTables::bind(const Addresses &addresses) {
  std::vector<cuda::Address> next;
  for (const Slot &slot : slots)
    next.push_back(addresses[size_t(slot.position)][slot.buffer] + slot.offset);
  if (next.empty())
    return {};
  auto known = std::ranges::find(bound, next, &Bound::addresses);
  if (known != bound.end()) {
    bound.splice(bound.begin(), bound, known);
    return {};
  }
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(next.data()),
                                 next.size() * sizeof(cuda::Address));
  std::unique_ptr<GpuMemory> memory;
  if (Status ok = GpuMemory::copyOf(bytes, gpu, device,
                                    "pointers of collectives", meter, memory);
      !ok)
    return ok;
  if (bound.size() == kMostSets) {
    // Enqueued launches may read the oldest.
    const Driver &driver = gpu->driver();
    if (Status ok = driver.check(driver.cuCtxSynchronize(), "cuCtxSynchronize");
        !ok)
      return ok;
    bound.pop_back();
  }
  bound.push_front({std::move(next), std::move(memory)});
  return {};
}

} // namespace weft::runtime
