#include "weft/runtime/devices/cuda/Staging.h"

namespace weft::runtime {

Error Staging::resize(Slot &slot, uint64_t bytes) {
  const Driver &driver = gpu->driver();
  if (slot.memory)
    if (Error e = driver.check(driver.cuMemFreeHost(slot.memory),
                               "cuMemFreeHost of staged arrays"))
      return e;
  slot.memory = nullptr;
  slot.bytes = 0;
  if (Error e = driver.check(driver.cuMemAllocHost(&slot.memory, bytes),
                             "cuMemAllocHost for staged arrays"))
    return e;
  slot.bytes = bytes;
  return nullptr;
}

Error Staging::take(uint64_t bytes, Slot *&out) {
  if (Error e = gpu->makeCurrent())
    return e;
  Slot &slot = slots[next];
  next = (next + 1) % slots.size();
  if (slot.copied) {
    if (Error e = slot.copied->wait())
      return e;
  } else if (Error e = GpuEvent::createShared(gpu, slot.copied)) {
    return e;
  }
  if (slot.bytes < bytes)
    if (Error e = resize(slot, bytes))
      return e;
  out = &slot;
  return nullptr;
}

Staging::~Staging() {
  for (Slot &slot : slots) {
    if (slot.copied)
      if (Error e = slot.copied->wait())
        continue; // a GPU that failed cannot be cleaned up
    if (slot.memory && !gpu->makeCurrent())
      gpu->driver().cuMemFreeHost(slot.memory);
  }
}

} // namespace weft::runtime
