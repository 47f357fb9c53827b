#include "weft/runtime/devices/cuda/GpuProgram.h"

#include <algorithm>

namespace weft::runtime {

GpuProgram::~GpuProgram() {
  for (auto &[gpu, image] : images)
    for (cuda::Module module : image.modules)
      if (!gpu->makeCurrent())
        gpu->driver().cuModuleUnload(module);
}

Error GpuProgram::checkSupported() const {
  const Plan &plan = owner->plan();
  for (uint32_t n = 0; n < plan.kernels.size(); ++n)
    if (!std::holds_alternative<DeviceKernel>(plan.kernels[n].code))
      return makeError(WEFT_INCOMPATIBLE, "kernel ", plan.kernelName(n),
                       " of program \"", plan.name, "\" is for ", plan.target,
                       ", and these devices are GPUs; compile the program "
                       "with --target cuda:sm_80, or run it on cpu:N");
  for (uint32_t n = 0; n < plan.instructions.size(); ++n)
    if (plan.instructions[n].kind == plan::Operation::Collective)
      return makeError(WEFT_INCOMPATIBLE, plan.describe(n), " of program \"",
                       plan.name,
                       "\": GPUs have no collectives yet; run it on one "
                       "device, or on cpu:N");
  return nullptr;
}

Error GpuProgram::loadModule(const Image &image, const DeviceModule &code,
                             cuda::Module &out) const {
  if (Error e = image.gpu->canRun(code.chip))
    return e;
  // The driver wants a NUL behind a text.
  std::string text(code.data.begin(), code.data.end());
  char log[4096] = {};
  cuda::JitOption keys[] = {cuda::JitOption::ErrorLogBuffer,
                            cuda::JitOption::ErrorLogBufferSizeBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  const Driver &driver = image.gpu->driver();
  cuda::Result result =
      driver.cuModuleLoadDataEx(&out, text.c_str(), 2, keys, values);
  Error e = driver.check(result, "cuModuleLoadDataEx for the kernels of \"" +
                                     owner->plan().name + "\"");
  if (e && log[0])
    e->message += std::string(": ") + log;
  return e;
}

Error GpuProgram::findKernel(const Image &image, const DeviceKernel &kernel,
                             Launch &out) const {
  const Driver &driver = image.gpu->driver();
  std::string name = " of kernel \"" + kernel.symbol + "\"";
  if (Error e = driver.check(driver.cuModuleGetFunction(
                                 &out.function, image.modules[kernel.module],
                                 kernel.symbol.c_str()),
                             "cuModuleGetFunction" + name))
    return e;
  int threads = int(kernel.block[0] * kernel.block[1] * kernel.block[2]),
      resident = 0;
  if (Error e =
          driver.check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                           &resident, out.function, threads, kernel.shared),
                       "cuOccupancyMaxActiveBlocksPerMultiprocessor" + name))
    return e;
  if (resident < 1)
    return makeError(WEFT_INCOMPATIBLE, "a block", name, " has ", threads,
                     " threads and ", kernel.shared,
                     " bytes of shared memory, more than GPU ",
                     image.gpu->name(), " has; compile the program again");
  uint64_t room = uint64_t(resident) * uint64_t(image.gpu->multiprocessors());
  out.blocks = unsigned(std::min(kernel.blocks, room));
  return nullptr;
}

Error GpuProgram::load(Image &image, int64_t device,
                       const std::shared_ptr<MemoryMeter> &meter) {
  const Plan &plan = owner->plan();
  if (Error e = image.gpu->makeCurrent())
    return e;
  for (const DeviceModule &code : plan.modules) {
    cuda::Module module = nullptr;
    if (Error e = loadModule(image, code, module))
      return e;
    image.modules.push_back(module);
  }
  for (const Kernel &kernel : plan.kernels)
    if (Error e = findKernel(image, std::get<DeviceKernel>(kernel.code),
                             image.launches.emplace_back()))
      return e;
  if (Error e = GpuMemory::allocate(image.gpu, device, plan.constantBytes,
                                    "constants", meter, image.constants))
    return e;
  if (!plan.constantBytes)
    return nullptr;
  std::unique_ptr<GpuStream> stream;
  if (Error e = GpuStream::create(image.gpu, stream))
    return e;
  const Driver &driver = image.gpu->driver();
  if (Error e = driver.check(
          driver.cuMemcpyHtoDAsync(image.constants->place(), plan.constants,
                                   plan.constantBytes, stream->handle()),
          "cuMemcpyHtoDAsync of constants"))
    return e;
  return stream->wait();
}

Error GpuProgram::placeCoordinates(
    const std::vector<std::shared_ptr<Gpu>> &gpus,
    const std::shared_ptr<MemoryMeter> &meter) {
  const Mesh &mesh = owner->plan().mesh;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    int64_t device = mesh.devices[size_t(position)];
    const std::shared_ptr<Gpu> &gpu = gpus[size_t(device)];
    std::vector<int64_t> coordinates;
    for (uint32_t a = 0; a < mesh.axes.size(); ++a)
      coordinates.push_back(
          coordinate(mesh.axes, position, {a, 1, mesh.axes[a].size}));
    size_t bytes = coordinates.size() * sizeof(int64_t);
    std::unique_ptr<GpuMemory> &memory = places.emplace_back();
    if (Error e = GpuMemory::allocate(gpu, device, bytes, "coordinates", meter,
                                      memory))
      return e;
    std::unique_ptr<GpuStream> stream;
    if (Error e = GpuStream::create(gpu, stream))
      return e;
    const Driver &driver = gpu->driver();
    if (bytes)
      if (Error e = driver.check(
              driver.cuMemcpyHtoDAsync(memory->place(), coordinates.data(),
                                       bytes, stream->handle()),
              "cuMemcpyHtoDAsync of coordinates"))
        return e;
    if (Error e = stream->wait())
      return e;
  }
  return nullptr;
}

Error GpuProgram::prepare(const std::vector<std::shared_ptr<Gpu>> &gpus,
                          const std::shared_ptr<MemoryMeter> &meter) {
  if (Error e = checkSupported())
    return e;
  const Mesh &mesh = owner->plan().mesh;
  for (int64_t device : mesh.devices) {
    const std::shared_ptr<Gpu> &gpu = gpus[size_t(device)];
    gpuOf.push_back(gpu.get());
    if (auto [image, isNew] = images.try_emplace(gpu.get()); isNew) {
      image->second.gpu = gpu;
      if (Error e = load(image->second, device, meter))
        return e;
    }
  }
  return placeCoordinates(gpus, meter);
}

} // namespace weft::runtime
