#include "weft/runtime/devices/cuda/Gpu.h"

#include <charconv>

namespace weft::runtime {

/// The oldest compute capability: with cp.async, bf16 and TF32, which kernels
/// use.
static constexpr int kOldestCapability = 80;

Error Gpu::read(cuda::DeviceAttribute attribute, int &value) const {
  return api.check(api.cuDeviceGetAttribute(&value, attribute, device),
                   "cuDeviceGetAttribute");
}

Error Gpu::own(const Driver &driver, OwnGpus &out) {
  int count = 0;
  if (Error e =
          driver.check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount"))
    return e;
  if (count < 1)
    return makeError(WEFT_INCOMPATIBLE,
                     "CUDA's driver finds no GPU; check nvidia-smi and "
                     "CUDA_VISIBLE_DEVICES, or use --devices cpu:N");
  out = ownGpus(count, localRank());
  return nullptr;
}

Error Gpu::find(const Driver &driver, int number, std::shared_ptr<Gpu> &out) {
  std::shared_ptr<Gpu> gpu(new Gpu(driver, number));
  if (Error e =
          driver.check(driver.cuDeviceGet(&gpu->device, number), "cuDeviceGet"))
    return e;
  char name[256] = {};
  if (Error e = driver.check(
          driver.cuDeviceGetName(name, sizeof name - 1, gpu->device),
          "cuDeviceGetName"))
    return e;
  gpu->model = name;
  using A = cuda::DeviceAttribute;
  if (Error e = gpu->read(A::ComputeCapabilityMajor, gpu->major))
    return e;
  if (Error e = gpu->read(A::ComputeCapabilityMinor, gpu->minor))
    return e;
  if (Error e = gpu->read(A::MultiprocessorCount, gpu->processors))
    return e;
  out = std::move(gpu);
  return nullptr;
}

Error Gpu::memory(uint64_t &bytes) const {
  size_t all = 0;
  Error e = api.check(api.cuDeviceTotalMem(&all, device), "cuDeviceTotalMem");
  bytes = all;
  return e;
}

Error Gpu::canRunPrograms() const {
  if (capability() >= kOldestCapability)
    return nullptr;
  return makeError(WEFT_INCOMPATIBLE, "GPU ", number, " (", model,
                   ") has compute capability ", major, ".", minor,
                   ", programs need 8.0 or more; use another GPU, "
                   "by CUDA_VISIBLE_DEVICES, or --devices cpu:N");
}

Error Gpu::open(const Driver &driver, int number, std::shared_ptr<Gpu> &out) {
  std::shared_ptr<Gpu> gpu;
  if (Error e = find(driver, number, gpu))
    return e;
  if (Error e = gpu->canRunPrograms())
    return e;
  if (Error e = driver.check(
          driver.cuDevicePrimaryCtxRetain(&gpu->context, gpu->device),
          "cuDevicePrimaryCtxRetain"))
    return e;
  out = std::move(gpu);
  return nullptr;
}

Gpu::~Gpu() {
  if (context)
    api.cuDevicePrimaryCtxRelease(device);
}

Error Gpu::makeCurrent() const {
  return api.check(api.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

Error Gpu::connect(const Gpu &other) {
  int can = 0;
  if (Error e = api.check(api.cuDeviceCanAccessPeer(&can, device, other.device),
                          "cuDeviceCanAccessPeer"))
    return e;
  if (!can)
    return nullptr;
  if (Error e = makeCurrent())
    return e;
  cuda::Result result = api.cuCtxEnablePeerAccess(other.context, 0);
  // Peer access may already be enabled, as others in the process use the same
  // context.
  if (result != cuda::Result::PeerAccessAlreadyEnabled)
    if (Error e = api.check(result, "cuCtxEnablePeerAccess"))
      return e;
  peers.insert(&other);
  return nullptr;
}

Error Gpu::canRun(const std::string &chip) const {
  int wanted = 0;
  const char *end = chip.data() + chip.size();
  const char *digits = chip.data() + std::min<size_t>(chip.size(), 3);
  auto [rest, error] = std::from_chars(digits, end, wanted);
  if (!chip.starts_with("sm_") || error != std::errc())
    return makeError(WEFT_INCOMPATIBLE, "the program is for \"", chip,
                     "\", which is no GPU of NVIDIA; compile it with --target "
                     "cuda:sm_80");
  bool isOfOneChip = rest != end; // sm_90a runs on 9.0 only
  if (isOfOneChip ? wanted == capability() : wanted <= capability())
    return nullptr;
  return makeError(WEFT_INCOMPATIBLE, "the program is for ", chip, ", GPU ",
                   number, " (", model, ") is sm_", capability(),
                   "; compile it with --target cuda:sm_80");
}

Error GpuStream::create(std::shared_ptr<const Gpu> gpu,
                        std::unique_ptr<GpuStream> &out) {
  cuda::Stream stream = nullptr;
  if (Error e = gpu->makeCurrent())
    return e;
  const Driver &driver = gpu->driver();
  if (Error e =
          driver.check(driver.cuStreamCreate(&stream, cuda::kStreamNonBlocking),
                       "cuStreamCreate"))
    return e;
  out.reset(new GpuStream(std::move(gpu), stream));
  return nullptr;
}

GpuStream::~GpuStream() {
  if (!owner->makeCurrent())
    owner->driver().cuStreamDestroy(stream);
}

Error GpuStream::wait() const {
  if (Error e = owner->makeCurrent())
    return e;
  return owner->driver().check(owner->driver().cuStreamSynchronize(stream),
                               "cuStreamSynchronize");
}

Error GpuStream::waitFor(const GpuEvent &event) const {
  if (Error e = owner->makeCurrent())
    return e;
  return owner->driver().check(
      owner->driver().cuStreamWaitEvent(stream, event.handle(), 0),
      "cuStreamWaitEvent");
}

Error GpuEvent::create(std::shared_ptr<const Gpu> gpu,
                       std::unique_ptr<GpuEvent> &out, bool isTimed) {
  cuda::Event event = nullptr;
  if (Error e = gpu->makeCurrent())
    return e;
  const Driver &driver = gpu->driver();
  if (Error e = driver.check(
          driver.cuEventCreate(&event, isTimed ? cuda::kEventDefault
                                               : cuda::kEventDisableTiming),
          "cuEventCreate"))
    return e;
  out.reset(new GpuEvent(std::move(gpu), event));
  return nullptr;
}

Error GpuEvent::createShared(std::shared_ptr<const Gpu> gpu,
                             std::shared_ptr<GpuEvent> &out) {
  std::unique_ptr<GpuEvent> event;
  Error e = create(std::move(gpu), event);
  out = std::move(event);
  return e;
}

Error GpuEvent::wait() const {
  if (Error e = owner->makeCurrent())
    return e;
  return owner->driver().check(owner->driver().cuEventSynchronize(event),
                               "cuEventSynchronize");
}

Error GpuEvent::since(const GpuEvent &earlier, uint64_t &nanoseconds) const {
  if (Error e = owner->makeCurrent())
    return e;
  float milliseconds = 0;
  if (Error e = owner->driver().check(owner->driver().cuEventElapsedTime(
                                          &milliseconds, earlier.event, event),
                                      "cuEventElapsedTime"))
    return e;
  nanoseconds = uint64_t(double(milliseconds) * 1e6);
  return nullptr;
}

GpuEvent::~GpuEvent() {
  if (!owner->makeCurrent())
    owner->driver().cuEventDestroy(event);
}

Error GpuEvent::record(const GpuStream &stream) const {
  if (Error e = owner->makeCurrent())
    return e;
  return owner->driver().check(
      owner->driver().cuEventRecord(event, stream.handle()), "cuEventRecord");
}

} // namespace weft::runtime
