#include "weft/runtime/devices/cpu/DeviceBorders.h"

namespace weft::runtime {

DeviceBorders::DeviceBorders(size_t positions) : regions(positions + 1) {}

DeviceBorders::~DeviceBorders() {
  for (MemoryRegion &region : regions)
    setOpen(region, true);
}

void DeviceBorders::add(size_t position, const Memory &memory) {
  regions[position].memories.push_back(&memory);
}

void DeviceBorders::enter(std::span<const int64_t> positions) {
  for (int64_t position : positions)
    regions[size_t(position)].isWanted = true;
  for (MemoryRegion &region : regions) {
    setOpen(region, region.isWanted);
    region.isWanted = false;
  }
}

void DeviceBorders::setOpen(MemoryRegion &region, bool isOpen) {
  if (region.isOpen == isOpen)
    return;
  region.isOpen = isOpen;
  for (const Memory *memory : region.memories)
    isRefused |= !memory->setReachable(isOpen);
}

} // namespace weft::runtime
