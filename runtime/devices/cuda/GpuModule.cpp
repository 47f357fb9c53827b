#include "weft/runtime/devices/cuda/GpuModule.h"

namespace weft::runtime {

/// The first driver that translates a module on several threads if asked.
static constexpr int kSplitCompile = 13000;

Status GpuModule::load(std::shared_ptr<const Gpu> gpu, const std::string &text,
                       const std::string &what,
                       std::unique_ptr<GpuModule> &out) {
  if (Status ok = gpu->makeCurrent(); !ok)
    return ok;
  const Driver &driver = gpu->driver();
  std::unique_ptr<GpuModule> made(new GpuModule(std::move(gpu)));
  char log[4096] = {};
  cuda::JitOption keys[] = {cuda::JitOption::ErrorLogBuffer,
                            cuda::JitOption::ErrorLogBufferSizeBytes,
                            cuda::JitOption::SplitCompile};
  // The threads of the last option: 0 is one for each core.
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1), nullptr};
  auto load = [&](unsigned options) {
    return driver.cuModuleLoadDataEx(&made->module, text.c_str(), options, keys,
                                     values);
  };
  cuda::Result result = load(driver.version >= kSplitCompile ? 3 : 2);
  if (result == cuda::Result::InvalidValue)
    result = load(2);
  if (Status ok = driver.check(result, "cuModuleLoadDataEx for the " + what);
      !ok) {
    made->module = nullptr;
    if (log[0])
      ok.error().message += std::string(": ") + log;
    return ok;
  }
  out = std::move(made);
  return {};
}

GpuModule::~GpuModule() {
  CallerContext caller(gpu->driver());
  if (module && gpu->makeCurrent())
    gpu->driver().cuModuleUnload(module);
}

Status GpuModule::find(const std::string &symbol, Block block,
                       GpuFunction &out) const {
  const Driver &driver = gpu->driver();
  std::string name = " of kernel \"" + symbol + "\"";
  if (Status ok = driver.check(
          driver.cuModuleGetFunction(&out.function, module, symbol.c_str()),
          "cuModuleGetFunction" + name);
      !ok)
    return ok;
  int resident = 0;
  if (Status ok = driver.check(
          driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
              &resident, out.function, int(block.threads), block.shared),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor" + name);
      !ok)
    return ok;
  if (resident < 1)
    return makeError(StatusCode::Incompatible, "a block", name, " has ",
                     block.threads, " threads and ", block.shared,
                     " bytes of shared memory, more than GPU ", gpu->name(),
                     " has; compile the program again");
  out.blocks = unsigned(resident) * unsigned(gpu->multiprocessors());
  return {};
}

} // namespace weft::runtime
