#include "weft/runtime/devices/cuda/GpuMemory.h"

namespace weft::runtime {

Status GpuMemory::allocate(std::shared_ptr<const Gpu> gpu, int64_t device,
                           uint64_t bytes, const std::string &what,
                           std::shared_ptr<MemoryMeter> meter,
                           std::unique_ptr<GpuMemory> &out) {
  if (Status ok = gpu->makeCurrent(); !ok)
    return ok;
  const Driver &driver = gpu->driver();
  std::unique_ptr<GpuMemory> memory(
      new GpuMemory(gpu, device, std::move(meter)));
  cuda::Address address = 0;
  cuda::Result result = driver.cuMemAlloc(&address, bytes ? bytes : 1);
  if (result == cuda::Result::OutOfMemory) {
    size_t free = 0, total = 0;
    driver.cuMemGetInfo(&free, &total);
    return makeError(StatusCode::OutOfMemory, "no memory for ", what,
                     " on device ", device, " (", gpu->name(), "): ", bytes,
                     " bytes, of ", total, " the GPU has ", free,
                     " left; take a smaller batch, split it over more GPUs, or "
                     "end other programs that use this one");
  }
  if (Status ok = driver.check(result, "cuMemAlloc for " + what); !ok)
    return ok;
  memory->start = reinterpret_cast<void *>(address);
  memory->size = bytes;
  memory->meter->add(device, int64_t(bytes));
  out = std::move(memory);
  return {};
}

Status GpuMemory::copyOf(std::span<const uint8_t> bytes,
                         std::shared_ptr<const Gpu> gpu, int64_t device,
                         const std::string &what,
                         std::shared_ptr<MemoryMeter> meter,
                         std::unique_ptr<GpuMemory> &out) {
  if (Status ok =
          allocate(gpu, device, bytes.size(), what, std::move(meter), out);
      !ok)
    return ok;
  if (bytes.empty())
    return {};
  std::unique_ptr<GpuStream> stream;
  if (Status ok = GpuStream::create(gpu, stream); !ok)
    return ok;
  const Driver &driver = gpu->driver();
  if (Status ok =
          driver.check(driver.cuMemcpyHtoDAsync(out->place(), bytes.data(),
                                                bytes.size(), stream->handle()),
                       "cuMemcpyHtoDAsync of " + what);
      !ok)
    return ok;
  return stream->wait();
}

std::unique_ptr<GpuMemory>
GpuMemory::partOf(std::shared_ptr<GpuMemory> whole, uint64_t first,
                  uint64_t bytes, int64_t device,
                  std::shared_ptr<MemoryMeter> meter) {
  std::unique_ptr<GpuMemory> part(
      new GpuMemory(whole->owner, device, std::move(meter)));
  part->start = static_cast<char *>(whole->start) + first;
  part->size = bytes;
  part->whole = std::move(whole);
  part->meter->add(device, int64_t(bytes));
  return part;
}

GpuMemory::~GpuMemory() {
  if (!start)
    return;
  CallerContext caller(owner->driver());
  upload = nullptr;
  meter->add(device, -int64_t(size));
  if (arriving)
    if (Status ok = arriving->wait(); !ok)
      return; // a GPU that failed cannot be cleaned up
  if (!whole && owner->makeCurrent())
    owner->driver().cuMemFree(place());
}

} // namespace weft::runtime
