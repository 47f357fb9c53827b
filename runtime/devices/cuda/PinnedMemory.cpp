#include "weft/runtime/devices/cuda/PinnedMemory.h"

namespace weft::runtime {

Status PinnedMemory::reserve(const std::shared_ptr<const Gpu> &gpu,
                             uint64_t bytes, const char *purpose) {
  if (memory && size >= bytes)
    return {};
  if (Status ok = gpu->makeCurrent(); !ok)
    return ok;
  const Driver &driver = gpu->driver();
  if (memory)
    if (Status ok =
            driver.check(driver.cuMemFreeHost(std::exchange(memory, nullptr)),
                         std::string("cuMemFreeHost of ") + purpose);
        !ok)
      return ok;
  owner = gpu;
  size = bytes;
  return driver.check(driver.cuMemAllocHost(&memory, bytes),
                      std::string("cuMemAllocHost for ") + purpose);
}

PinnedMemory::~PinnedMemory() {
  if (!memory)
    return;
  CallerContext caller(owner->driver());
  if (owner->makeCurrent())
    owner->driver().cuMemFreeHost(memory);
}

} // namespace weft::runtime
