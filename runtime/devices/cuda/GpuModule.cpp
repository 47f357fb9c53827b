#include "weft/runtime/devices/cuda/GpuModule.h"

namespace weft::runtime {

Error GpuModule::load(std::shared_ptr<const Gpu> gpu, const std::string &text,
                      const std::string &what,
                      std::unique_ptr<GpuModule> &out) {
  if (Error e = gpu->makeCurrent())
    return e;
  const Driver &driver = gpu->driver();
  std::unique_ptr<GpuModule> made(new GpuModule(std::move(gpu)));
  char log[4096] = {};
  cuda::JitOption keys[] = {cuda::JitOption::ErrorLogBuffer,
                            cuda::JitOption::ErrorLogBufferSizeBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  cuda::Result result =
      driver.cuModuleLoadDataEx(&made->module, text.c_str(), 2, keys, values);
  Error e = driver.check(result, "cuModuleLoadDataEx for the " + what);
  if (e) {
    made->module = nullptr;
    if (log[0])
      e->message += std::string(": ") + log;
    return e;
  }
  out = std::move(made);
  return nullptr;
}

GpuModule::~GpuModule() {
  if (module && !gpu->makeCurrent())
    gpu->driver().cuModuleUnload(module);
}

Error GpuModule::find(const std::string &symbol, Block block,
                      GpuFunction &out) const {
  const Driver &driver = gpu->driver();
  std::string name = " of kernel \"" + symbol + "\"";
  if (Error e = driver.check(
          driver.cuModuleGetFunction(&out.function, module, symbol.c_str()),
          "cuModuleGetFunction" + name))
    return e;
  int resident = 0;
  if (Error e = driver.check(
          driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
              &resident, out.function, int(block.threads), block.shared),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor" + name))
    return e;
  if (resident < 1)
    return makeError(WEFT_INCOMPATIBLE, "a block", name, " has ", block.threads,
                     " threads and ", block.shared,
                     " bytes of shared memory, more than GPU ", gpu->name(),
                     " has; compile the program again");
  out.blocks = unsigned(resident) * unsigned(gpu->multiprocessors());
  return nullptr;
}

} // namespace weft::runtime
