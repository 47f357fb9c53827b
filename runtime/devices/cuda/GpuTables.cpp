#include "weft/runtime/devices/cuda/GpuTables.h"

namespace weft::runtime {

uint64_t GpuTables::addPointers(const std::vector<int64_t> &members,
                                const std::vector<Collective::Array> &arrays) {
  uint64_t start = slots.size() * sizeof(cuda::Address);
  for (int64_t position : members)
    for (const Collective::Array &array : arrays)
      slots.push_back({position, array.buffer});
  return start;
}

Error GpuTables::place(std::shared_ptr<MemoryMeter> given) {
  meter = std::move(given);
  Error e = GpuMemory::copyOf(rows, gpu, device, "tables of collectives", meter,
                              placedRows);
  rows = {};
  return e;
}

Error GpuTables::bind(const Addresses &addresses) {
  std::vector<cuda::Address> next;
  for (const Slot &slot : slots)
    next.push_back(addresses[size_t(slot.position)][slot.buffer]);
  if (next.empty() || next == bound)
    return nullptr;
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(next.data()),
                                 next.size() * sizeof(cuda::Address));
  bound.clear(); // a failed copy leaves nothing bound
  placedPointers = nullptr;
  if (Error e = GpuMemory::copyOf(bytes, gpu, device, "pointers of collectives",
                                  meter, placedPointers))
    return e;
  bound = std::move(next);
  return nullptr;
}

} // namespace weft::runtime
