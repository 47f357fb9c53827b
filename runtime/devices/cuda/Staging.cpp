#include "weft/runtime/devices/cuda/Staging.h"

namespace weft::runtime {

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
  if (Status ok = slot.memory.reserve(gpu, bytes, "staged arrays"); !ok)
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
        slot.memory.abandon(); // a GPU that failed cannot be cleaned up
  }
}

} // namespace weft::runtime
