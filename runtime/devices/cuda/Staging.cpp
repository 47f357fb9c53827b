#include "weft/runtime/devices/cuda/Staging.h"

namespace weft::runtime {

Status Staging::resize(Slot &slot, uint64_t bytes) {
  const Driver &driver = gpu->driver();
  if (slot.memory)
    if (Status ok = driver.check(driver.cuMemFreeHost(slot.memory),
                                 "cuMemFreeHost of staged arrays");
        !ok)
      return ok;
  slot.memory = nullptr;
  slot.bytes = 0;
  if (Status ok = driver.check(driver.cuMemAllocHost(&slot.memory, bytes),
                               "cuMemAllocHost for staged arrays");
      !ok)
    return ok;
  slot.bytes = bytes;
  return {};
}

Status Staging::take(uint64_t bytes, Slot *&out) {
  if (Status ok = gpu->makeCurrent(); !ok)
    return ok;
  Slot &slot = slots[next];
  next = (next + 1) % slots.size();
  if (slot.copied) {
    if (Status ok = slot.copied->wait(); !ok)
      return ok;
  } else if (Status ok = GpuEvent::createShared(gpu, slot.copied); !ok) {
    return ok;
  }
  if (slot.bytes < bytes)
    if (Status ok = resize(slot, bytes); !ok)
      return ok;
  out = &slot;
  return {};
}

Status Staging::await(const GpuStream &stream, bool isLead) {
  std::lock_guard<std::mutex> guard(mutex);
  if (copies == 0 || (isLead && awaited == copies))
    return {};
  if (isLead)
    awaited = copies;
  return stream.waitFor(*latest);
}

Staging::~Staging() {
  CallerContext caller(gpu->driver());
  for (Slot &slot : slots) {
    if (slot.copied)
      if (Status ok = slot.copied->wait(); !ok)
        continue; // a GPU that failed cannot be cleaned up
    if (slot.memory && gpu->makeCurrent())
      gpu->driver().cuMemFreeHost(slot.memory);
  }
}

} // namespace weft::runtime
