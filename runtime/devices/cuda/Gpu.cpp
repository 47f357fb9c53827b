#include "weft/runtime/devices/cuda/Gpu.h"

#include <charconv>

namespace weft::runtime {

/// The oldest compute capability: with cp.async, bf16 and TF32, which kernels
/// use.
static constexpr int kOldestCapability = 80;

Status Gpu::read(cuda::DeviceAttribute attribute, int &value) const {
  return api.check(api.cuDeviceGetAttribute(&value, attribute, device),
                   "cuDeviceGetAttribute");
}

Status Gpu::own(const Driver &driver, OwnGpus &out) {
  int count = 0;
  if (Status ok =
          driver.check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
      !ok)
    return ok;
  if (count < 1)
    return makeError(StatusCode::Incompatible,
                     "CUDA's driver finds no GPU; check nvidia-smi and "
                     "CUDA_VISIBLE_DEVICES, or use ",
                     Option{"devices", "cpu:N"});
  out = ownGpus(count, localRank());
  return {};
}

Status Gpu::find(const Driver &driver, int number, std::shared_ptr<Gpu> &out) {
  std::shared_ptr<Gpu> gpu(new Gpu(driver, number));
  if (Status ok =
          driver.check(driver.cuDeviceGet(&gpu->device, number), "cuDeviceGet");
      !ok)
    return ok;
  char name[256] = {};
  if (Status ok = driver.check(
          driver.cuDeviceGetName(name, sizeof name - 1, gpu->device),
          "cuDeviceGetName");
      !ok)
    return ok;
  gpu->model = name;
  using A = cuda::DeviceAttribute;
  if (Status ok = gpu->read(A::ComputeCapabilityMajor, gpu->major); !ok)
    return ok;
  if (Status ok = gpu->read(A::ComputeCapabilityMinor, gpu->minor); !ok)
    return ok;
  if (Status ok = gpu->read(A::MultiprocessorCount, gpu->processors); !ok)
    return ok;
  out = std::move(gpu);
  return {};
}

Status Gpu::address(GpuAddress &out) const {
  using A = cuda::DeviceAttribute;
  if (Status ok = read(A::PciDomainId, out.domain); !ok)
    return ok;
  if (Status ok = read(A::PciBusId, out.bus); !ok)
    return ok;
  return read(A::PciDeviceId, out.device);
}

Status Gpu::memory(uint64_t &bytes) const {
  size_t all = 0;
  Status ok = api.check(api.cuDeviceTotalMem(&all, device), "cuDeviceTotalMem");
  bytes = all;
  return ok;
}

Status Gpu::canRunPrograms() const {
  if (capability() >= kOldestCapability)
    return {};
  return makeError(StatusCode::Incompatible, "GPU ", number, " (", model,
                   ") has compute capability ", major, ".", minor,
                   ", programs need 8.0 or more; use another GPU, "
                   "by CUDA_VISIBLE_DEVICES, or cpu:N");
}

Status Gpu::open(const Driver &driver, int number, std::shared_ptr<Gpu> &out) {
  std::shared_ptr<Gpu> gpu;
  if (Status ok = find(driver, number, gpu); !ok)
    return ok;
  if (Status ok = gpu->canRunPrograms(); !ok)
    return ok;
  if (Status ok = driver.check(
          driver.cuDevicePrimaryCtxRetain(&gpu->context, gpu->device),
          "cuDevicePrimaryCtxRetain");
      !ok)
    return ok;
  out = std::move(gpu);
  return {};
}

Gpu::~Gpu() {
  if (context)
    api.cuDevicePrimaryCtxRelease(device);
}

Status Gpu::makeCurrent() const {
  return api.check(api.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

Status Gpu::connect(const Gpu &other) {
  if (reaches(other))
    return {};
  int can = 0;
  if (Status ok =
          api.check(api.cuDeviceCanAccessPeer(&can, device, other.device),
                    "cuDeviceCanAccessPeer");
      !ok)
    return ok;
  if (!can)
    return {};
  if (Status ok = makeCurrent(); !ok)
    return ok;
  cuda::Result result = api.cuCtxEnablePeerAccess(other.context, 0);
  if (result == cuda::Result::PeerAccessUnsupported)
    return {}; // by this pair, whatever the driver has said before
  if (result == cuda::Result::TooManyPeers)
    return makeError(StatusCode::Incompatible, "GPU ", number, " addresses ",
                     peers.size(),
                     " other GPUs, and the driver allows no more");
  // Peer access may already be enabled, as others in the process use the same
  // context.
  if (result != cuda::Result::PeerAccessAlreadyEnabled)
    if (Status ok = api.check(result, "cuCtxEnablePeerAccess"); !ok)
      return ok;
  peers.insert(&other);
  return {};
}

Status Gpu::canRun(const std::string &chip) const {
  int wanted = 0;
  const char *end = chip.data() + chip.size();
  const char *digits = chip.data() + std::min<size_t>(chip.size(), 3);
  auto [rest, error] = std::from_chars(digits, end, wanted);
  if (!chip.starts_with("sm_") || error != std::errc())
    return makeError(StatusCode::Incompatible, "the program is for \"", chip,
                     "\", which is no GPU of NVIDIA; compile it with ",
                     Option{"target", "cuda:sm_80"});
  bool isOfOneChip = rest != end; // sm_90a runs on 9.0 only
  if (isOfOneChip ? wanted == capability() : wanted <= capability())
    return {};
  return makeError(StatusCode::Incompatible, "the program is for ", chip,
                   ", GPU ", number, " (", model, ") is sm_", capability(),
                   "; compile it with ", Option{"target", "cuda:sm_80"});
}

Status GpuStream::create(std::shared_ptr<const Gpu> gpu,
                         std::unique_ptr<GpuStream> &out) {
  cuda::Stream stream = nullptr;
  if (Status ok = gpu->makeCurrent(); !ok)
    return ok;
  const Driver &driver = gpu->driver();
  if (Status ok =
          driver.check(driver.cuStreamCreate(&stream, cuda::kStreamNonBlocking),
                       "cuStreamCreate");
      !ok)
    return ok;
  out.reset(new GpuStream(std::move(gpu), stream));
  return {};
}

GpuStream::~GpuStream() {
  CallerContext caller(owner->driver());
  if (owner->makeCurrent())
    owner->driver().cuStreamDestroy(stream);
}

Status GpuStream::wait() const {
  if (Status ok = owner->makeCurrent(); !ok)
    return ok;
  return owner->driver().check(owner->driver().cuStreamSynchronize(stream),
                               "cuStreamSynchronize");
}

cuda::Result GpuStream::query() const {
  return owner->makeCurrent() ? owner->driver().cuStreamQuery(stream)
                              : cuda::Result::Unknown;
}

Status GpuStream::waitFor(const GpuEvent &event) const {
  if (Status ok = owner->makeCurrent(); !ok)
    return ok;
  return owner->driver().check(
      owner->driver().cuStreamWaitEvent(stream, event.handle(), 0),
      "cuStreamWaitEvent");
}

Status GpuEvent::create(std::shared_ptr<const Gpu> gpu,
                        std::unique_ptr<GpuEvent> &out, bool isTimed) {
  cuda::Event event = nullptr;
  if (Status ok = gpu->makeCurrent(); !ok)
    return ok;
  const Driver &driver = gpu->driver();
  if (Status ok = driver.check(
          driver.cuEventCreate(&event, isTimed ? cuda::kEventDefault
                                               : cuda::kEventDisableTiming),
          "cuEventCreate");
      !ok)
    return ok;
  out.reset(new GpuEvent(std::move(gpu), event));
  return {};
}

Status GpuEvent::createShared(std::shared_ptr<const Gpu> gpu,
                              std::shared_ptr<GpuEvent> &out) {
  std::unique_ptr<GpuEvent> event;
  Status ok = create(std::move(gpu), event);
  out = std::move(event);
  return ok;
}

Status GpuEvent::wait() const {
  if (Status ok = owner->makeCurrent(); !ok)
    return ok;
  return owner->driver().check(owner->driver().cuEventSynchronize(event),
                               "cuEventSynchronize");
}

cuda::Result GpuEvent::query() const {
  return owner->makeCurrent() ? owner->driver().cuEventQuery(event)
                              : cuda::Result::Unknown;
}

Status GpuEvent::since(const GpuEvent &earlier, uint64_t &nanoseconds) const {
  if (Status ok = owner->makeCurrent(); !ok)
    return ok;
  float milliseconds = 0;
  if (Status ok =
          owner->driver().check(owner->driver().cuEventElapsedTime(
                                    &milliseconds, earlier.event, event),
                                "cuEventElapsedTime");
      !ok)
    return ok;
  nanoseconds = uint64_t(double(milliseconds) * 1e6);
  return {};
}

GpuEvent::~GpuEvent() {
  CallerContext caller(owner->driver());
  if (owner->makeCurrent())
    owner->driver().cuEventDestroy(event);
}

Status GpuEvent::record(const GpuStream &stream) const {
  if (Status ok = owner->makeCurrent(); !ok)
    return ok;
  return owner->driver().check(
      owner->driver().cuEventRecord(event, stream.handle()), "cuEventRecord");
}

} // namespace weft::runtime
