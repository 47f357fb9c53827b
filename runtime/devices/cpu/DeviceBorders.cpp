#include "weft/runtime/devices/cpu/DeviceBorders.h"

#include <algorithm>

namespace weft::runtime {

DeviceBorders::DeviceBorders(size_t positions) : entered(positions + 1) {}

DeviceBorders::~DeviceBorders() {
  for (auto &[positions, region] : regions)
    set(region, Access::Write);
}

void DeviceBorders::add(const std::vector<size_t> &positions,
                        const Memory &memory) {
  regions[positions].memories.push_back(&memory);
}

void DeviceBorders::enter(std::span<const int64_t> positions) {
  for (int64_t position : positions)
    entered[size_t(position)] = true;
  auto isEntered = [&](size_t position) { return entered[position]; };
  for (auto &[its, region] : regions)
    set(region, std::ranges::all_of(its, isEntered)   ? Access::Write
                : std::ranges::any_of(its, isEntered) ? Access::Read
                                                      : Access::None);
  for (int64_t position : positions)
    entered[size_t(position)] = false;
}

void DeviceBorders::set(MemoryRegion &region, Access access) {
  if (region.access == access)
    return;
  region.access = access;
  for (const Memory *memory : region.memories)
    isRefused |= !memory->setAccess(access);
}

} // namespace weft::runtime
