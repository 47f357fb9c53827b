#include "weft/runtime/devices/cpu/DeviceBorders.h"

namespace weft::runtime {

DeviceBorders::DeviceBorders(size_t positions) : territories(positions + 1) {}

DeviceBorders::~DeviceBorders() {
  for (Territory &territory : territories)
    setOpen(territory, true);
}

void DeviceBorders::add(size_t position, const Memory &memory) {
  territories[position].memories.push_back(&memory);
}

void DeviceBorders::enter(std::span<const int64_t> positions) {
  for (int64_t position : positions)
    territories[size_t(position)].isWanted = true;
  for (Territory &territory : territories) {
    setOpen(territory, territory.isWanted);
    territory.isWanted = false;
  }
}

void DeviceBorders::setOpen(Territory &territory, bool isOpen) {
  if (territory.isOpen == isOpen)
    return;
  territory.isOpen = isOpen;
  for (const Memory *memory : territory.memories)
    isRefused |= !memory->setReachable(isOpen);
}

} // namespace weft::runtime
