//===- DriverAbi.h - the part of CUDA's driver API that Weft calls -*- C++ -*-===//
//
// Own declarations of CUDA's driver, so that no toolkit is needed to build. A
// caller makes a table of the functions and fills it from libcuda.so.1:
//
//   struct Driver {
//   #define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                 \
//     cuda::Result(*name) parameters = nullptr;
//     WEFT_CUDA_FUNCTIONS(WEFT_CUDA_FUNCTION)
//   #undef WEFT_CUDA_FUNCTION
//   } driver;
//   dlsym(library, "cuMemAlloc_v2")                     // the symbol, or
//   driver.cuGetProcAddress("cuMemAlloc", &f, 12040, 0, &status)   // the name
//   if (cuda::Result r = driver.cuMemAlloc(&address, 4096); r != cuda::Result::Success)
//
// If cuda.h is installed, test/cuda/driver-abi-test.cpp compares all numbers,
// sizes and parameters with it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_DRIVERABI_H
#define WEFT_RUNTIME_DEVICES_CUDA_DRIVERABI_H

#include <cstddef>
#include <cstdint>

namespace weft::cuda {

/// A GPU by its number; an address in a GPU's memory, which the host cannot
/// dereference.
using Device = int;
using Address = uint64_t;
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using Graph = struct GraphObject *;
using GraphNode = struct GraphNodeObject *;
using GraphExec = struct GraphExecObject *;
/// What an edge of a graph says beside its ends; only its presence counts here.
struct EdgeData;

/// The status of a call; cuGetErrorName() knows more numbers.
enum class Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  StubLibrary = 34,
  DeviceUnavailable = 46,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  EccUncorrectable = 214,
  UnsupportedLimit = 215,
  PeerAccessUnsupported = 217,
  InvalidPtx = 218,
  NvlinkUncorrectable = 220,
  UnsupportedPtxVersion = 222,
  Contained = 226,
  FileNotFound = 301,
  InvalidHandle = 400,
  IllegalState = 401,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  PeerAccessAlreadyEnabled = 704,
  ContextIsDestroyed = 709,
  Assert = 710,
  TooManyPeers = 711,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidProgramCounter = 718,
  LaunchFailed = 719,
  TensorMemoryLeak = 721,
  NotPermitted = 800,
  NotSupported = 801,
  SystemDriverMismatch = 803,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  StreamCaptureMerge = 902,
  StreamCaptureUnmatched = 903,
  StreamCaptureUnjoined = 904,
  StreamCaptureIsolation = 905,
  StreamCaptureWrongThread = 908,
  Unknown = 999
};

enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxBlockDimX = 2,
  MaxBlockDimY = 3,
  MaxBlockDimZ = 4,
  MaxGridDimX = 5,
  MaxGridDimY = 6,
  MaxGridDimZ = 7,
  MaxSharedMemoryPerBlock = 8,
  TotalConstantMemory = 9,
  WarpSize = 10,
  MaxRegistersPerBlock = 12,
  ClockRate = 13, ///< kHz
  MultiprocessorCount = 16,
  Integrated = 18,
  ComputeMode = 20,
  ConcurrentKernels = 31,
  PciBusId = 33,
  PciDeviceId = 34,
  MemoryClockRate = 36,      ///< kHz
  GlobalMemoryBusWidth = 37, ///< bits
  L2CacheSize = 38,
  MaxThreadsPerMultiprocessor = 39,
  AsyncEngineCount = 40,
  UnifiedAddressing = 41,
  PciDomainId = 50,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedMemoryPerMultiprocessor = 81,
  MaxRegistersPerMultiprocessor = 82,
  CooperativeLaunch = 95,
  MaxSharedMemoryPerBlockOptin = 97,
  MemoryPoolsSupported = 115
};

enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1, ///< static
  ConstSizeBytes = 2,
  LocalSizeBytes = 3, ///< bytes of a thread
  NumRegs = 4,
  PtxVersion = 5,
  BinaryVersion = 6,
  MaxDynamicSharedSizeBytes = 8
};

/// Options of cuModuleLoadDataEx; a number is passed in the bits of a pointer.
enum class JitOption : int {
  MaxRegisters = 0,
  WallTime = 2, ///< out: milliseconds, a float
  InfoLogBuffer = 3,
  InfoLogBufferSizeBytes = 4,
  ErrorLogBuffer = 5,
  ErrorLogBufferSizeBytes = 6,
  OptimizationLevel = 7,
  GenerateLineInfo = 13,
  SplitCompile = 34,
};

enum class ProcAddressStatus : int {
  Success = 0,
  SymbolNotFound = 1,
  VersionNotSufficient = 2
};

enum StreamFlags : unsigned { kStreamDefault = 0, kStreamNonBlocking = 1 };
enum EventFlags : unsigned {
  kEventDefault = 0,
  kEventBlockingSync = 1,
  kEventDisableTiming = 2
};

/// Which threads may not make calls that are unsafe while a stream captures.
enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };
enum class CaptureStatus : int { None = 0, Active = 1, Invalidated = 2 };
enum CaptureDependencies : unsigned {
  kAddCaptureDependencies = 0,
  kSetCaptureDependencies = 1
};

} // namespace weft::cuda

// F(name for cuGetProcAddress(), symbol in the library, first driver with it,
// parameters of the function).
// clang-format off
#define WEFT_CUDA_FUNCTIONS(F) \
  WEFT_CUDA_CALLS(F) \
  WEFT_CUDA_GRAPH_CALLS(F)
// Those of graphs: drivers before CUDA 12.3 lack some of them, and run without.
#define WEFT_CUDA_GRAPH_CALLS(F) \
  F(cuStreamBeginCapture, cuStreamBeginCapture_v2, 10010, (weft::cuda::Stream stream, weft::cuda::CaptureMode mode)) \
  F(cuStreamEndCapture, cuStreamEndCapture, 10000, (weft::cuda::Stream stream, weft::cuda::Graph *graph)) \
  F(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v3, 12030, (weft::cuda::Stream stream, weft::cuda::CaptureStatus *status, uint64_t *id, weft::cuda::Graph *graph, const weft::cuda::GraphNode **dependencies, const weft::cuda::EdgeData **edges, size_t *count)) \
  F(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2, 12030, (weft::cuda::Stream stream, weft::cuda::GraphNode *dependencies, const weft::cuda::EdgeData *edges, size_t count, unsigned flags)) \
  F(cuGraphAddEmptyNode, cuGraphAddEmptyNode, 10000, (weft::cuda::GraphNode *node, weft::cuda::Graph graph, const weft::cuda::GraphNode *dependencies, size_t count)) \
  F(cuGraphInstantiate, cuGraphInstantiateWithFlags, 11040, (weft::cuda::GraphExec *exec, weft::cuda::Graph graph, unsigned long long flags)) \
  F(cuGraphLaunch, cuGraphLaunch, 10000, (weft::cuda::GraphExec exec, weft::cuda::Stream stream)) \
  F(cuGraphExecDestroy, cuGraphExecDestroy, 10000, (weft::cuda::GraphExec exec)) \
  F(cuGraphDestroy, cuGraphDestroy, 10000, (weft::cuda::Graph graph))
#define WEFT_CUDA_CALLS(F) \
  F(cuInit, cuInit, 2000, (unsigned flags)) \
  F(cuDriverGetVersion, cuDriverGetVersion, 2020, (int *version)) \
  F(cuGetProcAddress, cuGetProcAddress_v2, 12000, (const char *name, void **function, int version, uint64_t flags, weft::cuda::ProcAddressStatus *status)) \
  F(cuGetErrorName, cuGetErrorName, 6000, (weft::cuda::Result result, const char **text)) \
  F(cuGetErrorString, cuGetErrorString, 6000, (weft::cuda::Result result, const char **text)) \
  F(cuDeviceGet, cuDeviceGet, 2000, (weft::cuda::Device *device, int ordinal)) \
  F(cuDeviceGetCount, cuDeviceGetCount, 2000, (int *count)) \
  F(cuDeviceGetName, cuDeviceGetName, 2000, (char *name, int bytes, weft::cuda::Device device)) \
  F(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000, (int *value, weft::cuda::DeviceAttribute attribute, weft::cuda::Device device)) \
  F(cuDeviceTotalMem, cuDeviceTotalMem_v2, 3020, (size_t *bytes, weft::cuda::Device device)) \
  F(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, (weft::cuda::Context *context, weft::cuda::Device device)) \
  F(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, 11000, (weft::cuda::Device device)) \
  F(cuCtxSetCurrent, cuCtxSetCurrent, 4000, (weft::cuda::Context context)) \
  F(cuCtxGetCurrent, cuCtxGetCurrent, 4000, (weft::cuda::Context *context)) \
  F(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, 4000, (int *can, weft::cuda::Device device, weft::cuda::Device peer)) \
  F(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000, (weft::cuda::Context peer, unsigned flags)) \
  F(cuCtxSynchronize, cuCtxSynchronize, 2000, (void)) \
  F(cuMemGetInfo, cuMemGetInfo_v2, 3020, (size_t *free, size_t *total)) \
  F(cuMemAlloc, cuMemAlloc_v2, 3020, (weft::cuda::Address *address, size_t bytes)) \
  F(cuMemFree, cuMemFree_v2, 3020, (weft::cuda::Address address)) \
  F(cuMemAllocAsync, cuMemAllocAsync, 11020, (weft::cuda::Address *address, size_t bytes, weft::cuda::Stream stream)) \
  F(cuMemFreeAsync, cuMemFreeAsync, 11020, (weft::cuda::Address address, weft::cuda::Stream stream)) \
  F(cuMemAllocHost, cuMemAllocHost_v2, 3020, (void **memory, size_t bytes)) \
  F(cuMemFreeHost, cuMemFreeHost, 2000, (void *memory)) \
  F(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020, (weft::cuda::Address to, const void *from, size_t bytes, weft::cuda::Stream stream)) \
  F(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020, (void *to, weft::cuda::Address from, size_t bytes, weft::cuda::Stream stream)) \
  F(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 3020, (weft::cuda::Address to, weft::cuda::Address from, size_t bytes, weft::cuda::Stream stream)) \
  F(cuMemsetD8Async, cuMemsetD8Async, 3020, (weft::cuda::Address to, unsigned char value, size_t count, weft::cuda::Stream stream)) \
  F(cuMemsetD32Async, cuMemsetD32Async, 3020, (weft::cuda::Address to, unsigned value, size_t count, weft::cuda::Stream stream)) \
  F(cuModuleLoadDataEx, cuModuleLoadDataEx, 2010, (weft::cuda::Module *module, const void *image, unsigned options, weft::cuda::JitOption *keys, void **values)) \
  F(cuModuleGetFunction, cuModuleGetFunction, 2000, (weft::cuda::Function *function, weft::cuda::Module module, const char *name)) \
  F(cuModuleUnload, cuModuleUnload, 2000, (weft::cuda::Module module)) \
  F(cuFuncGetAttribute, cuFuncGetAttribute, 2020, (int *value, weft::cuda::FunctionAttribute attribute, weft::cuda::Function function)) \
  F(cuFuncSetAttribute, cuFuncSetAttribute, 9000, (weft::cuda::Function function, weft::cuda::FunctionAttribute attribute, int value)) \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, (int *blocks, weft::cuda::Function function, int threads, size_t sharedBytes)) \
  F(cuLaunchKernel, cuLaunchKernel, 4000, (weft::cuda::Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, weft::cuda::Stream stream, void **parameters, void **extra)) \
  F(cuStreamCreate, cuStreamCreate, 2000, (weft::cuda::Stream *stream, unsigned flags)) \
  F(cuStreamDestroy, cuStreamDestroy_v2, 4000, (weft::cuda::Stream stream)) \
  F(cuStreamSynchronize, cuStreamSynchronize, 2000, (weft::cuda::Stream stream)) \
  F(cuStreamWaitEvent, cuStreamWaitEvent, 3020, (weft::cuda::Stream stream, weft::cuda::Event event, unsigned flags)) \
  F(cuStreamQuery, cuStreamQuery, 2000, (weft::cuda::Stream stream)) \
  F(cuEventCreate, cuEventCreate, 2000, (weft::cuda::Event *event, unsigned flags)) \
  F(cuEventRecord, cuEventRecord, 2000, (weft::cuda::Event event, weft::cuda::Stream stream)) \
  F(cuEventSynchronize, cuEventSynchronize, 2000, (weft::cuda::Event event)) \
  F(cuEventQuery, cuEventQuery, 2000, (weft::cuda::Event event)) \
  F(cuEventDestroy, cuEventDestroy_v2, 4000, (weft::cuda::Event event)) \
  F(cuEventElapsedTime, cuEventElapsedTime, 2000, (float *milliseconds, weft::cuda::Event start, weft::cuda::Event end))
// clang-format on

#endif // WEFT_RUNTIME_DEVICES_CUDA_DRIVERABI_H
