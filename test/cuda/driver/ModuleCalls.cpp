//===- ModuleCalls.cpp - modules, functions, launches ---------------------===//

#include "weft/test/cuda/driver/Entry.h"

#include <cstdio>
#include <cstring>

using namespace weft::fake;
namespace ptx = weft::ptx;

/// Whether an image is machine code: an ELF file, or a fat binary.
static bool isBinary(const char *image) {
  const unsigned char fat[] = {0x50, 0xED, 0x55, 0xBA};
  return !std::memcmp(image,
                      "\x7f"
                      "ELF",
                      4) ||
         !std::memcmp(image, fat, 4);
}

/// Writes a text to the log buffer of the options.
static void writeLog(const std::string &text, unsigned options, JitOption *keys,
                     void **values) {
  char *buffer = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < options; ++i) {
    if (keys[i] == JitOption::ErrorLogBuffer)
      buffer = static_cast<char *>(values[i]);
    if (keys[i] == JitOption::ErrorLogBufferSizeBytes)
      bytes = size_t(values[i]);
  }
  if (buffer && bytes)
    std::snprintf(buffer, bytes, "%s", text.c_str());
}

/// Checks the chip: sm_80 runs on every later chip, sm_90a on its own only.
static Result checkTarget(const ptx::Module &module) {
  const Settings &settings = Driver::get().settings;
  int number = 0;
  char suffix = 0;
  std::sscanf(module.target.c_str(), "sm_%d%c", &number, &suffix);
  int chip = settings.major * 10 + settings.minor;
  if (number > chip || (suffix == 'a' && number != chip))
    return Result::NoBinaryForGpu;
  // CUDA 12.4 came with PTX 8.4, 13.0 with 9.0.
  int newest =
      (settings.version / 1000 - 4) * 10 + settings.version % 1000 / 10;
  return int(module.version) > newest ? Result::UnsupportedPtxVersion
                                      : Result::Success;
}

static bool placeData(ModuleObject &module) {
  DeviceMemory &memory = Driver::get().memory;
  for (const ptx::Data &data : module.code.data) {
    Address address = memory.allocate(
        module.context, std::max<uint64_t>(1, data.bytes), true, false);
    if (!address)
      return false;
    std::memcpy(memory.bytes(address), data.initial.data(), data.bytes);
    memory.allocation(address)->name = data.name;
    module.dataAddresses.push_back(address);
  }
  return true;
}

static Result load(ModuleObject &module, const char *image, unsigned options,
                   JitOption *keys, void **values) {
  std::string error = ptx::parseModule(image, module.code);
  if (error.find("not known to this machine") != std::string::npos)
    Driver::get().report("cuModuleLoadDataEx: " + error);
  if (!error.empty()) {
    writeLog(error, options, keys, values);
    return Result::InvalidPtx;
  }
  if (Result result = checkTarget(module.code); result != Result::Success)
    return result;
  return placeData(module) ? Result::Success : Result::OutOfMemory;
}

Result cuModuleLoadDataEx(Module *module, const void *image, unsigned options,
                          JitOption *keys, void **values) {
  return call(__func__, Needs::Context, [&] {
    if (!module || !image || (options && (!keys || !values)))
      return Result::InvalidValue;
    for (unsigned n = 0; n < options; ++n) // older drivers do not know it
      if (keys[n] == JitOption::SplitCompile &&
          Driver::get().settings.version < 13000)
        return Result::InvalidValue;
    auto text = static_cast<const char *>(image);
    if (isBinary(text))
      return Result::NoBinaryForGpu;
    auto made = std::make_unique<ModuleObject>();
    made->context = Driver::current();
    Result result = load(*made, text, options, keys, values);
    if (result != Result::Success)
      return result;
    *module = made.release();
    Driver::get().modules.insert(*module);
    return Result::Success;
  });
}

static bool isModule(Module module) {
  Driver &driver = Driver::get();
  if (driver.modules.contains(module))
    return true;
  driver.report("a module that is not loaded, or no more, is used");
  return false;
}

Result cuModuleGetFunction(Function *function, Module module,
                           const char *name) {
  return call(__func__, Needs::Context, [&] {
    if (!function || !name)
      return Result::InvalidValue;
    if (!isModule(module))
      return Result::InvalidHandle;
    const ptx::Kernel *kernel = module->code.find(name);
    if (!kernel)
      return Result::NotFound;
    auto &made = module->functions[name];
    if (!made)
      made = std::make_unique<FunctionObject>(FunctionObject{module, kernel});
    *function = made.get();
    return Result::Success;
  });
}

Result cuModuleUnload(Module module) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    if (!isModule(module))
      return Result::InvalidHandle;
    auto users = driver.pending(
        [&](const Operation &operation) { return operation.object == module; });
    if (!users.empty())
      driver.report("cuModuleUnload of the module of " + users.front()->name +
                    ", which is not over; wait for it first");
    Result result = driver.waitForContext(module->context);
    for (Address address : module->dataAddresses)
      driver.memory.free(address, "cuModuleUnload");
    driver.modules.erase(module);
    delete module;
    return result;
  });
}

static bool isFunction(Function function) {
  Driver &driver = Driver::get();
  for (Module module : driver.modules)
    for (const auto &[name, known] : module->functions)
      if (known.get() == function)
        return true;
  driver.report(
      "a function of a module that is not loaded, or no more, is used");
  return false;
}

static int mostThreads(const ptx::Kernel &kernel) {
  const uint32_t *limit =
      kernel.requiredThreads[0] ? kernel.requiredThreads : kernel.maxThreads;
  return limit[0] ? int(limit[0] * limit[1] * limit[2]) : 1024;
}

Result cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                          Function function) {
  return call(__func__, Needs::Context, [&] {
    if (!isFunction(function))
      return Result::InvalidHandle;
    const Settings &settings = Driver::get().settings;
    const ptx::Kernel &kernel = *function->kernel;
    switch (attribute) {
    case FunctionAttribute::MaxThreadsPerBlock:
      *value = mostThreads(kernel);
      return Result::Success;
    case FunctionAttribute::SharedSizeBytes:
      *value = int(kernel.sharedBytes);
      return Result::Success;
    case FunctionAttribute::ConstSizeBytes:
      *value = 0;
      return Result::Success;
    case FunctionAttribute::LocalSizeBytes:
      *value = int(kernel.localBytes);
      return Result::Success;
    case FunctionAttribute::NumRegs: // an upper bound: the machine assigns none
      *value = int(std::min<size_t>(255, kernel.slots.size()));
      return Result::Success;
    case FunctionAttribute::PtxVersion:
    case FunctionAttribute::BinaryVersion:
      *value = settings.major * 10 + settings.minor;
      return Result::Success;
    case FunctionAttribute::MaxDynamicSharedSizeBytes:
      *value = function->dynamicShared;
      return Result::Success;
    }
    return Result::InvalidValue;
  });
}

constexpr int kSharedOptIn = 227 * 1024;

Result cuFuncSetAttribute(Function function, FunctionAttribute attribute,
                          int value) {
  return call(__func__, Needs::Context, [&] {
    if (!isFunction(function))
      return Result::InvalidHandle;
    if (attribute != FunctionAttribute::MaxDynamicSharedSizeBytes ||
        value < 0 || value > kSharedOptIn - int(function->kernel->sharedBytes))
      return Result::InvalidValue;
    function->dynamicShared = value;
    return Result::Success;
  });
}

/// The fake multiprocessor has 2048 threads, 32 blocks and 228 KiB of shared
/// memory; each block takes 1 KiB of it beside its own.
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                   Function function,
                                                   int threads,
                                                   size_t sharedBytes) {
  return call(__func__, Needs::Context, [&] {
    if (!isFunction(function))
      return Result::InvalidHandle;
    if (!blocks || threads < 1)
      return Result::InvalidValue;
    size_t shared = function->kernel->sharedBytes + sharedBytes + 1024;
    bool fits = threads <= mostThreads(*function->kernel) &&
                sharedBytes <= size_t(function->dynamicShared);
    int rounded = (threads + 31) / 32 * 32;
    *blocks =
        fits ? std::min({32, 2048 / rounded, int(228 * 1024 / shared)}) : 0;
    return Result::Success;
  });
}

static Result resultOf(ptx::Fault fault) {
  switch (fault) {
  case ptx::Fault::None:
    return Result::Success;
  case ptx::Fault::Address:
    return Result::IllegalAddress;
  case ptx::Fault::Misaligned:
    return Result::MisalignedAddress;
  case ptx::Fault::Trap:
    return Result::IllegalInstruction;
  case ptx::Fault::Launch:
    return Result::LaunchFailed;
  case ptx::Fault::Endless:
    return Result::LaunchTimeout;
  }
  return Result::Unknown;
}

/// The addresses of this driver among the 64-bit values in parameters.
static std::vector<Touch> pointersOf(const ptx::Launch &launch) {
  std::vector<Touch> all;
  for (const ptx::Parameter &parameter : launch.kernel->parameters) {
    uint64_t address = 0, first = 0;
    if (parameter.bytes != sizeof address)
      continue;
    std::memcpy(&address, launch.parameters.data() + parameter.offset,
                sizeof address);
    if (Driver::get().memory.find(address, 0, first))
      all.push_back({address, 0, false});
  }
  return all;
}

static void runKernel(Operation &self, const ptx::Launch &launch) {
  Driver &driver = Driver::get();
  for (const Touch &pointer : self.touches) {
    uint64_t first = 0;
    DeviceMemory::Block *block = driver.memory.find(pointer.address, 0, first);
    if (block && !block->freedBy.empty())
      driver.report(self.name + " gets memory that " + block->freedBy +
                    " has freed");
  }
  if (Result result = driver.beginKernel(); result != Result::Success) {
    self.context->error = result;
    return;
  }
  ptx::Findings findings;
  ptx::Outcome outcome = ptx::run(launch, self.context->memory, findings);
  for (const std::string &text : findings.texts)
    driver.report(text);
  for (const ptx::Range &range : outcome.footprint.reads)
    driver.noteAccess(self, {range.address, range.bytes, false});
  for (const ptx::Range &range : outcome.footprint.writes)
    driver.noteAccess(self, {range.address, range.bytes, true});
  self.context->error = resultOf(outcome.fault);
}

static Result checkSize(const ptx::Launch &launch,
                        const FunctionObject &function) {
  const ptx::Dim3 &block = launch.block;
  if (block.x > 1024 || block.y > 1024 || block.z > 64)
    return Result::InvalidValue;
  if (launch.dynamicShared > unsigned(function.dynamicShared))
    return Result::InvalidValue;
  return ptx::checkLaunch(launch).empty() ? Result::Success
                                          : Result::InvalidValue;
}

/// Launches a kernel, whose parameters are copied at once.
Result cuLaunchKernel(Function function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes, Stream handle,
                      void **parameters, void **extra) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream || !isFunction(function) ||
        function->module->context != stream->context)
      return Result::InvalidHandle;
    const ptx::Kernel &kernel = *function->kernel;
    if (extra || (!parameters && !kernel.parameters.empty()))
      return Result::InvalidValue;
    ptx::Launch launch;
    launch.module = &function->module->code;
    launch.kernel = &kernel;
    launch.grid = {gridX, gridY, gridZ};
    launch.block = {blockX, blockY, blockZ};
    launch.dynamicShared = sharedBytes;
    launch.parameters.resize(kernel.parameterBytes);
    for (size_t i = 0; i < kernel.parameters.size(); ++i)
      std::memcpy(launch.parameters.data() + kernel.parameters[i].offset,
                  parameters[i], kernel.parameters[i].bytes);
    if (Result result = checkSize(launch, *function); result != Result::Success)
      return result;
    launch.dataAddresses = function->module->dataAddresses;
    launch.seed = nextRandom(driver.random) | 1;
    OperationRef operation = driver.enqueue(
        stream, "kernel '" + kernel.name + "'", pointersOf(launch),
        [launch](Operation &self) { runKernel(self, launch); });
    operation->object = function->module;
    return Result::Success;
  });
}
