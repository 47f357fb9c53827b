//===- DeviceCalls.cpp - versions, functions, GPUs, contexts --------------===//

#include "weft/test/cuda/driver/Entry.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace weft::fake;

Result cuInit(unsigned flags) {
  return call(__func__, Needs::Nothing, [&] {
    Driver &driver = Driver::get();
    if (flags)
      return Result::InvalidValue;
    if (!driver.settings.gpus)
      return Result::NoDevice;
    driver.isInitialized = true;
    if (std::getenv("FAKE_CUDA_SHOW_CACHE")) {
      const char *folder = std::getenv("CUDA_CACHE_PATH");
      std::fprintf(stderr, "CUDA_CACHE_PATH: %s\n",
                   folder ? folder : "not set");
    }
    return Result::Success;
  });
}

Result cuDriverGetVersion(int *version) {
  return call(__func__, Needs::Nothing, [&] {
    if (!version)
      return Result::InvalidValue;
    *version = Driver::get().settings.version;
    return Result::Success;
  });
}

namespace {
struct Entry {
  const char *name, *symbol;
  int version;
  void *function;
};
} // namespace
static const Entry kEntries[] = {
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                  \
  {#name, #symbol, version, reinterpret_cast<void *>(&symbol)},
    WEFT_CUDA_FUNCTIONS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
};

static ProcAddressStatus findEntry(const std::string &name, int version,
                                   void *&function) {
  const Settings &settings = Driver::get().settings;
  for (const Entry &entry : kEntries) {
    if (name != entry.name || settings.missing.contains(name))
      continue;
    if (entry.version > settings.version || entry.version > version)
      return ProcAddressStatus::VersionNotSufficient;
    function = entry.function;
    return ProcAddressStatus::Success;
  }
  return ProcAddressStatus::SymbolNotFound;
}

Result cuGetProcAddress_v2(const char *name, void **function, int version,
                           uint64_t flags, ProcAddressStatus *status) {
  return call(__func__, Needs::Nothing, [&] {
    if (!name || !function || flags > 2)
      return Result::InvalidValue;
    *function = nullptr;
    ProcAddressStatus found = findEntry(name, version, *function);
    if (status)
      *status = found;
    return Result::Success; // as the driver 580.159 does
  });
}

namespace {
struct ErrorText {
  Result result;
  const char *name, *text;
};
} // namespace
static const ErrorText kErrors[] = {
    {Result::Success, "CUDA_SUCCESS", "no error"},
    {Result::InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {Result::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {Result::NotInitialized, "CUDA_ERROR_NOT_INITIALIZED",
     "initialization error"},
    {Result::NoDevice, "CUDA_ERROR_NO_DEVICE",
     "no CUDA-capable device is detected"},
    {Result::InvalidDevice, "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {Result::InvalidImage, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {Result::InvalidContext, "CUDA_ERROR_INVALID_CONTEXT",
     "invalid device context"},
    {Result::NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {Result::InvalidPtx, "CUDA_ERROR_INVALID_PTX",
     "a PTX JIT compilation failed"},
    {Result::EccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "uncorrectable ECC error encountered"},
    {Result::NvlinkUncorrectable, "CUDA_ERROR_NVLINK_UNCORRECTABLE",
     "uncorrectable NVLink error detected during the execution"},
    {Result::Contained, "CUDA_ERROR_CONTAINED",
     "Invalid access of peer GPU memory over nvlink or a hardware error"},
    {Result::TooManyPeers, "CUDA_ERROR_TOO_MANY_PEERS",
     "peer mapping resources exhausted"},
    {Result::TensorMemoryLeak, "CUDA_ERROR_TENSOR_MEMORY_LEAK",
     "tensor memory not completely freed"},
    {Result::UnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {Result::InvalidHandle, "CUDA_ERROR_INVALID_HANDLE",
     "invalid resource handle"},
    {Result::NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {Result::NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {Result::PeerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {Result::PeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {Result::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {Result::LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {Result::LaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {Result::IllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {Result::MisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "misaligned address"},
    {Result::LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {Result::NotSupported, "CUDA_ERROR_NOT_SUPPORTED",
     "operation not supported"},
    {Result::StreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {Result::StreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {Result::StreamCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {Result::StreamCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {Result::StreamCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {Result::StreamCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another "
     "thread"},
    {Result::Unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static Result findError(Result result, const char **text,
                        const char *ErrorText::*part) {
  if (!text)
    return Result::InvalidValue;
  *text = nullptr;
  for (const ErrorText &error : kErrors)
    if (error.result == result)
      *text = error.*part;
  return *text ? Result::Success : Result::InvalidValue;
}

Result cuGetErrorName(Result result, const char **text) {
  return call(__func__, Needs::Nothing,
              [&] { return findError(result, text, &ErrorText::name); });
}
Result cuGetErrorString(Result result, const char **text) {
  return call(__func__, Needs::Nothing,
              [&] { return findError(result, text, &ErrorText::text); });
}

static bool isDevice(Device device) {
  return device >= 0 && device < Driver::get().settings.gpus;
}

Result cuDeviceGet(Device *device, int ordinal) {
  return call(__func__, Needs::Init, [&] {
    if (!isDevice(ordinal))
      return Result::InvalidDevice;
    *device = ordinal;
    return Result::Success;
  });
}
Result cuDeviceGetCount(int *count) {
  return call(__func__, Needs::Init, [&] {
    *count = Driver::get().settings.gpus;
    return Result::Success;
  });
}
Result cuDeviceGetName(char *name, int bytes, Device device) {
  return call(__func__, Needs::Init, [&] {
    if (!isDevice(device))
      return Result::InvalidDevice;
    std::snprintf(name, size_t(bytes), "PTX machine %d", device);
    return Result::Success;
  });
}
Result cuDeviceTotalMem_v2(size_t *bytes, Device device) {
  return call(__func__, Needs::Init, [&] {
    if (!isDevice(device))
      return Result::InvalidDevice;
    *bytes = Driver::get().settings.memory;
    return Result::Success;
  });
}

/// Attributes of a chip of the ninth generation, for which programs are
/// planned.
static int attributeOf(DeviceAttribute attribute) {
  const Settings &settings = Driver::get().settings;
  static const std::map<DeviceAttribute, int> values = {
      {DeviceAttribute::MaxThreadsPerBlock, 1024},
      {DeviceAttribute::MaxBlockDimX, 1024},
      {DeviceAttribute::MaxBlockDimY, 1024},
      {DeviceAttribute::MaxBlockDimZ, 64},
      {DeviceAttribute::MaxGridDimX, 0x7FFFFFFF},
      {DeviceAttribute::MaxGridDimY, 65535},
      {DeviceAttribute::MaxGridDimZ, 65535},
      {DeviceAttribute::MaxSharedMemoryPerBlock, 48 * 1024},
      {DeviceAttribute::TotalConstantMemory, 64 * 1024},
      {DeviceAttribute::WarpSize, 32},
      {DeviceAttribute::MaxRegistersPerBlock, 65536},
      {DeviceAttribute::ClockRate, 1980000},
      {DeviceAttribute::MultiprocessorCount, 4},
      {DeviceAttribute::ConcurrentKernels, 1},
      {DeviceAttribute::MemoryClockRate, 2619000},
      {DeviceAttribute::GlobalMemoryBusWidth, 5120},
      {DeviceAttribute::L2CacheSize, 50 << 20},
      {DeviceAttribute::MaxThreadsPerMultiprocessor, 2048},
      {DeviceAttribute::AsyncEngineCount, 3},
      {DeviceAttribute::UnifiedAddressing, 1},
      {DeviceAttribute::ComputeCapabilityMajor, settings.major},
      {DeviceAttribute::ComputeCapabilityMinor, settings.minor},
      {DeviceAttribute::MaxSharedMemoryPerMultiprocessor, 228 * 1024},
      {DeviceAttribute::MaxRegistersPerMultiprocessor, 65536},
      {DeviceAttribute::CooperativeLaunch, 1},
      {DeviceAttribute::MaxSharedMemoryPerBlockOptin, 227 * 1024},
      {DeviceAttribute::MemoryPoolsSupported, 1}};
  auto found = values.find(attribute);
  return found == values.end() ? -1 : found->second;
}

Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute,
                            Device device) {
  return call(__func__, Needs::Init, [&] {
    if (!isDevice(device))
      return Result::InvalidDevice;
    bool isZero = attribute == DeviceAttribute::Integrated ||
                  attribute == DeviceAttribute::ComputeMode ||
                  attribute == DeviceAttribute::PciDomainId;
    *value = attribute == DeviceAttribute::PciBusId ? device + 1
             : isZero || attribute == DeviceAttribute::PciDeviceId
                 ? 0
                 : attributeOf(attribute);
    return *value < 0 ? Result::InvalidValue : Result::Success;
  });
}

Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  return call(__func__, Needs::Init, [&] {
    if (!isDevice(device))
      return Result::InvalidDevice;
    *context = Driver::get().contexts[size_t(device)].get();
    ++(*context)->retained;
    return (*context)->error;
  });
}

/// Destroys all objects of the context, even those in use, when its last user
/// releases it.
Result cuDevicePrimaryCtxRelease_v2(Device device) {
  return call(__func__, Needs::Init, [&] {
    if (!isDevice(device))
      return Result::InvalidDevice;
    ContextObject &context = *Driver::get().contexts[size_t(device)];
    if (!context.retained)
      return Result::InvalidContext;
    if (--context.retained == 0 && context.used &&
        context.error == Result::Success)
      Driver::get().report(
          "the last release of device " + std::to_string(device) + " leaves " +
          std::to_string(context.used) + " bytes that are not freed");
    return Result::Success;
  });
}

Result cuDeviceCanAccessPeer(int *can, Device device, Device peer) {
  return call(__func__, Needs::Init, [&] {
    if (!can || !isDevice(device) || !isDevice(peer))
      return can ? Result::InvalidDevice : Result::InvalidValue;
    *can = device != peer && Driver::get().settings.hasPeers;
    return Result::Success;
  });
}

/// Lets the current context access the peer's memory, in one direction.
Result cuCtxEnablePeerAccess(Context peer, unsigned flags) {
  return call(__func__, Needs::Context, [&] {
    Context context = Driver::current();
    if (flags || !peer)
      return Result::InvalidValue;
    if (peer == context)
      return Result::InvalidDevice;
    if (!Driver::get().settings.hasPeers)
      return Result::PeerAccessUnsupported;
    if (context->memory.hasPeer(peer->memory))
      return Result::PeerAccessAlreadyEnabled;
    if (context->peers >= Driver::get().settings.mostPeers)
      return Result::TooManyPeers;
    ++context->peers;
    context->memory.addPeer(peer->memory);
    return Result::Success;
  });
}

Result cuCtxSetCurrent(Context context) {
  return call(__func__, Needs::Init, [&] {
    Driver::current() = context;
    return Result::Success;
  });
}
Result cuCtxGetCurrent(Context *context) {
  return call(__func__, Needs::Init, [&] {
    *context = Driver::current();
    return Result::Success;
  });
}
Result cuCtxSynchronize() {
  return call(__func__, Needs::Context,
              [&] { return Driver::get().waitForContext(Driver::current()); });
}
