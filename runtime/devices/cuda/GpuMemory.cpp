#include "weft/runtime/devices/cuda/GpuMemory.h"

namespace weft::runtime {

Error GpuMemory::allocate(std::shared_ptr<const Gpu> gpu, int64_t device,
                          uint64_t bytes, const std::string &what,
                          std::shared_ptr<MemoryMeter> meter,
                          std::unique_ptr<GpuMemory> &out) {
  if (Error e = gpu->makeCurrent())
    return e;
  const Driver &driver = gpu->driver();
  std::unique_ptr<GpuMemory> memory(
      new GpuMemory(gpu, device, std::move(meter)));
  cuda::Address address = 0;
  cuda::Result result = driver.cuMemAlloc(&address, bytes ? bytes : 1);
  if (result == cuda::Result::OutOfMemory) {
    size_t free = 0, total = 0;
    driver.cuMemGetInfo(&free, &total);
    return makeError(WEFT_OUT_OF_MEMORY, "no memory for ", what, " on device ",
                     device, " (", gpu->name(), "): ", bytes, " bytes, of ",
                     total, " the GPU has ", free,
                     " left; take a smaller batch, split it over more GPUs, or "
                     "end other programs that use this one");
  }
  if (Error e = driver.check(result, "cuMemAlloc for " + what))
    return e;
  memory->start = reinterpret_cast<void *>(address);
  memory->size = bytes;
  memory->meter->add(device, int64_t(bytes));
  out = std::move(memory);
  return nullptr;
}

Error GpuMemory::copyOf(std::span<const uint8_t> bytes,
                        std::shared_ptr<const Gpu> gpu, int64_t device,
                        const std::string &what,
                        std::shared_ptr<MemoryMeter> meter,
                        std::unique_ptr<GpuMemory> &out) {
  if (Error e =
          allocate(gpu, device, bytes.size(), what, std::move(meter), out))
    return e;
  if (bytes.empty())
    return nullptr;
  std::unique_ptr<GpuStream> stream;
  if (Error e = GpuStream::create(gpu, stream))
    return e;
  const Driver &driver = gpu->driver();
  if (Error e =
          driver.check(driver.cuMemcpyHtoDAsync(out->place(), bytes.data(),
                                                bytes.size(), stream->handle()),
                       "cuMemcpyHtoDAsync of " + what))
    return e;
  return stream->wait();
}

GpuMemory::~GpuMemory() {
  if (!start)
    return;
  meter->add(device, -int64_t(size));
  if (arriving)
    if (Error e = arriving->wait())
      return; // a GPU that failed cannot be cleaned up
  if (!owner->makeCurrent())
    owner->driver().cuMemFree(place());
}

} // namespace weft::runtime
