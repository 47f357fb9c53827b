#include "weft/runtime/devices/cuda/CudaDevices.h"

#include "weft/base/Text.h"
#include "weft/runtime/devices/cuda/MemoryNeeds.h"

namespace weft::runtime {

Status CudaDevices::open(int64_t count, Processes *processes,
                         std::unique_ptr<DeviceSet> &out) {
  const Driver *driver = nullptr;
  if (Status ok = Driver::load(driver); !ok)
    return ok;
  CallerContext caller(*driver);
  JointGpus all;
  if (Status ok = JointGpus::open(*driver, count, processes, all); !ok)
    return ok;
  auto set = std::make_unique<CudaDevices>();
  set->meter = std::make_shared<MemoryMeter>(count);
  set->devices.resize(size_t(count));
  set->firstOwn = size_t(all.firstDevice);
  for (size_t i = 0; i < set->devices.size(); ++i) {
    Device &device = set->devices[i];
    device.rank = all.ofDevice[i];
    if (std::shared_ptr<Gpu> gpu = all.ownGpu(device.rank))
      if (Status ok = set->openDevice(std::move(gpu), device); !ok)
        return ok;
  }
  set->links = std::make_shared<GpuLinks>(std::move(all), processes);
  std::vector<const GpuStream *> streams;
  for (const Device &device : set->devices)
    if (device.work)
      streams.push_back(device.work.get());
  set->links->watch(std::move(streams));
  out = std::move(set);
  return {};
}

Status CudaDevices::openDevice(std::shared_ptr<Gpu> gpu, Device &device) {
  const Device *before = &device == &front() ? nullptr : &device - 1;
  bool isShared = before && before->gpu == gpu;
  device.builtin =
      isShared ? before->builtin : std::make_shared<BuiltinKernels>(gpu);
  device.libraries = isShared
                         ? before->libraries
                         : std::make_shared<GpuLibraries>(gpu, libraryNotes);
  device.gpu = std::move(gpu);
  if (Status ok = GpuStream::create(device.gpu, device.work); !ok)
    return ok;
  if (Status ok = GpuStream::create(device.gpu, device.copies); !ok)
    return ok;
  if (!isShared) {
    if (Status ok = GpuStream::create(device.gpu, device.reads); !ok)
      return ok;
    device.staging = std::make_unique<Staging>(device.gpu);
    device.uploads = std::make_shared<Uploads>(device.gpu);
  }
  return GpuEvent::create(device.gpu, device.event);
}

std::vector<size_t> CudaDevices::ownPositions(const Mesh &mesh) const {
  std::vector<size_t> out;
  for (size_t p = 0; p < mesh.devices.size(); ++p)
    if (devices[size_t(mesh.devices[p])].gpu)
      out.push_back(p);
  return out;
}

std::string CudaDevices::describe() const {
  return DeviceList{DeviceKind::Cuda, int64_t(devices.size())}.text() + ", " +
         front().gpu->name();
}

Status CudaDevices::fits(const Plan &plan) const {
  CallerContext caller(driver());
  MemoryNeeds needs(plan);
  std::map<const Gpu *, uint64_t> sharers; // numbers of devices on each GPU
  for (size_t p : ownPositions(plan.mesh))
    ++sharers[devices[size_t(plan.mesh.devices[p])].gpu.get()];
  for (const auto &[gpu, count] : sharers) {
    uint64_t wanted = needs.total() * count + plan.constantBytes;
    size_t free = 0, total = 0;
    if (Status ok = gpu->makeCurrent(); !ok)
      return ok;
    if (Status ok = gpu->driver().check(
            gpu->driver().cuMemGetInfo(&free, &total), "cuMemGetInfo");
        !ok)
      return ok;
    if (wanted > free)
      return makeError(
          StatusCode::OutOfMemory, "program \"", plan.name, "\" takes ",
          grouped(wanted), " bytes of GPU ", gpu->ordinal(), " (", gpu->name(),
          "), of ", grouped(total), " it has ", grouped(free), " left: ", count,
          count == 1 ? " device" : " devices", " with each ", needs.text(),
          "; constants ", grouped(plan.constantBytes),
          "; take a smaller batch, shard large arrays over more GPUs, or end "
          "other programs that use this one");
  }
  return {};
}

Status CudaDevices::allocate(int64_t device, uint64_t bytes,
                             const std::string &what,
                             std::unique_ptr<DeviceMemory> &out) {
  CallerContext caller(driver());
  std::unique_ptr<GpuMemory> memory;
  if (Status ok = GpuMemory::allocate(devices[size_t(device)].gpu, device,
                                      bytes, what, meter, memory);
      !ok)
    return ok;
  if (bytes)
    if (Status ok = fill(*memory, 0); !ok)
      return ok;
  out = std::move(memory);
  return {};
}

/// Small results follow each other in memory, so that one copy brings several to
/// the host.
Status CudaDevices::allocateResult(int64_t number, uint64_t bytes,
                                   const std::string &what,
                                   std::unique_ptr<DeviceMemory> &out) {
  constexpr uint64_t most = 256, all = 16 * most;
  if (bytes == 0 || bytes > most)
    return allocate(number, bytes, what, out);
  CallerContext caller(driver());
  std::lock_guard<std::mutex> guard(smallMutex);
  Device &device = devices[size_t(number)];
  if (!device.small || device.smallBytes == all) {
    std::unique_ptr<GpuMemory> made;
    if (Status ok = GpuMemory::allocate(
            device.gpu, number, all, what,
            std::make_shared<MemoryMeter>(number + 1), made);
        !ok)
      return ok;
    device.small = std::move(made);
    device.smallBytes = 0;
  }
  auto part =
      GpuMemory::partOf(device.small, device.smallBytes, bytes, number, meter);
  device.smallBytes += most;
  if (Status ok = fill(*part, 0); !ok)
    return ok;
  out = std::move(part);
  return {};
}

const CudaDevices::Device *CudaDevices::firstOn(const Gpu &gpu) const {
  for (const Device &device : devices)
    if (device.gpu.get() == &gpu)
      return &device;
  return nullptr;
}

Status CudaDevices::copierOf(const DeviceMemory &memory,
                             const Device *&out) const {
  out = firstOn(*static_cast<const GpuMemory &>(memory).gpu());
  return out ? out->gpu->makeCurrent()
             : makeError(StatusCode::InvalidArgument,
                         "memory of another runtime");
}

Status CudaDevices::awaitWrites(const GpuStream &stream) const {
  const Device &first = *firstOn(stream.gpu());
  return first.staging->await(stream, /*isLead=*/&stream == first.work.get());
}

/// Copies through slots. A box of the whole memory is assembled in one slot;
/// one run of bytes may take several.
Status CudaDevices::stage(GpuMemory &memory, const Device &copier,
                          const BoxCopy &box, const void *host) {
  bool isRun = box.loops.empty();
  uint64_t bytes = isRun ? uint64_t(box.run) : memory.bytes(),
           first = isRun ? uint64_t(box.targetOffset) : 0;
  const char *source = static_cast<const char *>(host) + box.sourceOffset;
  const Driver &driver = copier.gpu->driver();
  std::lock_guard<std::mutex> guard(copier.staging->mutex);
  for (uint64_t done = 0; done < bytes;) {
    uint64_t chunk = std::min(bytes - done, Staging::kMostBytes);
    Staging::Slot *slot = nullptr;
    if (Status ok = copier.staging->take(chunk, slot); !ok)
      return ok;
    if (isRun)
      std::memcpy(slot->memory.start(), source + done, chunk);
    else
      box(host, slot->memory.start());
    if (Status ok =
            driver.check(driver.cuMemcpyHtoDAsync(memory.place() + first + done,
                                                  slot->memory.start(), chunk,
                                                  copier.copies->handle()),
                         "cuMemcpyHtoDAsync of a staged array");
        !ok)
      return ok;
    if (Status ok = slot->copied->record(*copier.copies); !ok)
      return ok;
    copier.staging->noteCopy(*slot);
    memory.setArriving(slot->copied);
    done += chunk;
  }
  return {};
}

/// Whether a write leaves the bytes to the next run: all bytes of a small array
/// that was written before, if all runs of the process are on one GPU.
bool CudaDevices::leavesToRun(const DeviceMemory &memory,
                              const BoxCopy &box) const {
  auto &own = static_cast<const GpuMemory &>(memory);
  return own.isWrittenOften() && memory.bytes() <= Uploads::kMostBytes &&
         uint64_t(box.bytes()) == memory.bytes() && own.gpu() == front().gpu &&
         links->isOneGpu();
}

bool CudaDevices::writesBehindRuns(const DeviceMemory &memory,
                                   const BoxCopy &box) const {
  return deferred == 0 && leavesToRun(memory, box);
}

Status CudaDevices::write(DeviceMemory &memory, const BoxCopy &given,
                          const void *host) {
  if (!memory.bytes() || !given.bytes())
    return {};
  CallerContext caller(driver());
  auto &own = static_cast<GpuMemory &>(memory);
  if (leavesToRun(memory, given)) {
    const std::shared_ptr<Uploads> &uploads = front().uploads;
    if (!own.upload)
      own.upload = std::make_unique<Uploads::Array>(uploads, own.place(),
                                                    memory.bytes());
    return uploads->put(*own.upload, given, host);
  }
  const Device *copier = nullptr;
  if (Status ok = copierOf(memory, copier); !ok)
    return ok;
  bool isAll = uint64_t(given.bytes()) == memory.bytes();
  own.countWrite();
  if (own.upload && !isAll)
    if (Status ok = front().uploads->copyNow(*copier->copies); !ok)
      return ok;
  if (own.upload)
    if (Status ok = front().uploads->forget(*own.upload); !ok)
      return ok;
  if (given.loops.empty() || (isAll && memory.bytes() <= Staging::kMostBytes))
    return stage(own, *copier, given, host);
  std::vector<uint8_t> image(memory.bytes());
  if (!isAll) // the remaining bytes are kept
    if (Status ok = read(memory, BoxCopy::full(image.size()), image.data());
        !ok)
      return ok;
  given(host, image.data());
  return stage(own, *copier, BoxCopy::full(image.size()), image.data());
}

Status CudaDevices::read(const DeviceMemory &memory, const BoxCopy &box,
                         void *host) {
  if (!memory.bytes() || !box.bytes())
    return {};
  CallerContext caller(driver());
  const Device *copier = nullptr;
  if (Status ok = copierOf(memory, copier); !ok)
    return ok;
  auto &own = static_cast<const GpuMemory &>(memory);
  if (bool isRead = false; own.upload) {
    Status ok = front().uploads->read(*own.upload, box, host, isRead);
    if (!ok || isRead)
      return ok;
  }
  // Not after the copies of the next batch.
  const GpuStream *stream = copier->reads.get();
  if (const auto &arriving = own.arrival())
    if (Status ok = stream->waitFor(*arriving); !ok)
      return ok;
  const Driver &driver = stream->gpu().driver();
  bool isOneRun = box.loops.empty();
  std::vector<uint8_t> image(isOneRun ? 0 : memory.bytes());
  cuda::Address place = static_cast<const GpuMemory &>(memory).place();
  cuda::Result result =
      isOneRun ? driver.cuMemcpyDtoHAsync(static_cast<char *>(host) +
                                              box.targetOffset,
                                          place + uint64_t(box.sourceOffset),
                                          size_t(box.run), stream->handle())
               : driver.cuMemcpyDtoHAsync(image.data(), place, image.size(),
                                          stream->handle());
  if (Status ok = driver.check(result, "cuMemcpyDtoHAsync"); !ok)
    return ok;
  if (Status ok = stream->wait(); !ok)
    return ok;
  if (!isOneRun)
    box(image.data(), host);
  return {};
}

Status CudaDevices::fill(DeviceMemory &memory, uint8_t byte) {
  if (!memory.bytes())
    return {};
  CallerContext caller(driver());
  const Device *copier = nullptr;
  if (Status ok = copierOf(memory, copier); !ok)
    return ok;
  if (const auto &upload = static_cast<GpuMemory &>(memory).upload)
    if (Status ok = front().uploads->forget(*upload); !ok)
      return ok;
  const GpuStream *stream = copier->copies.get();
  const Driver &driver = stream->gpu().driver();
  if (Status ok = driver.check(
          driver.cuMemsetD8Async(static_cast<GpuMemory &>(memory).place(), byte,
                                 memory.bytes(), stream->handle()),
          "cuMemsetD8Async");
      !ok)
    return ok;
  return stream->wait();
}

Status CudaDevices::prepare(std::shared_ptr<const Program> program,
                            const Ownership &ownership,
                            std::shared_ptr<PreparedProgram> &out) {
  CallerContext caller(driver());
  std::vector<GpuShare> shares;
  const Mesh &mesh = program->plan().mesh;
  for (int64_t number : mesh.devices) {
    const Device &device = devices[size_t(number)];
    shares.push_back({number, device.rank, device.gpu, device.builtin,
                      device.libraries, links});
  }
  auto prepared = std::make_shared<GpuProgram>(std::move(program), ownership);
  if (Status ok = prepared->prepare(shares, meter); !ok)
    return ok;
  out = std::move(prepared);
  return {};
}

Ticket CudaDevices::enqueue(const MemoryCopy &given) {
  return defer([this, given] { return copy(given); }, /*isAwaited=*/false);
}

void CudaDevices::attend(const Ticket &ticket) {
  CallerContext caller(driver());
  queue.attend(ticket);
}

Status CudaDevices::canIsolate() const {
  return makeError(StatusCode::InvalidArgument,
                   "devices of a GPU cannot be kept apart; use cpu:N");
}

Status CudaDevices::copy(const MemoryCopy &copy) {
  if (!copy.bytes)
    return {};
  bool isFromHost = copy.fromDevice < 0, isToHost = copy.toDevice < 0;
  if (isFromHost && isToHost) {
    std::memmove(copy.to, copy.from, copy.bytes);
    return {};
  }
  const Device &device =
      devices[size_t(isToHost ? copy.fromDevice : copy.toDevice)];
  if (Status ok = front().uploads->copyNow(*front().copies); !ok)
    return ok;
  if (Status ok = device.gpu->makeCurrent(); !ok)
    return ok;
  for (int64_t end : {copy.fromDevice, copy.toDevice})
    if (end >= 0)
      if (Status ok = firstOn(*devices[size_t(end)].gpu)
                          ->staging->await(*device.copies, /*isLead=*/false);
          !ok)
        return ok;
  const Driver &driver = device.gpu->driver();
  cuda::Stream stream = device.copies->handle();
  cuda::Result result =
      isFromHost ? driver.cuMemcpyHtoDAsync(addressOf(copy.to), copy.from,
                                            copy.bytes, stream)
      : isToHost
          ? driver.cuMemcpyDtoHAsync(copy.to, addressOf(copy.from), copy.bytes,
                                     stream)
          : driver.cuMemcpyDtoDAsync(addressOf(copy.to), addressOf(copy.from),
                                     copy.bytes, stream);
  if (Status ok = driver.check(
          result, "a copy of " + std::to_string(copy.bytes) + " bytes");
      !ok)
    return ok;
  return device.copies->wait();
}

} // namespace weft::runtime

extern "C" WEFT_EXPORT weft_error *
weftOpenCuda(int64_t count, weft::runtime::Processes *processes,
             std::unique_ptr<weft::runtime::DeviceSet> *out) {
  return weft::runtime::guarded(
      [&] { return weft::runtime::CudaDevices::open(count, processes, *out); });
}
