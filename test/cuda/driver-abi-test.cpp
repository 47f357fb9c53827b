// Compares DriverAbi.h with CUDA's own header: compiling is the test.
#include "catch2/catch.hpp"
#include "weft/runtime/devices/cuda/DriverAbi.h"

#include <cuda.h>

#include <type_traits>

using namespace weft::cuda;

static_assert(CUDA_VERSION >= 12000);

/// A parameter is passed in the same way: both are pointers, or numbers of one size.
template <class Ours, class Theirs>
constexpr bool samePassing =
    sizeof(Ours) == sizeof(Theirs) &&
    std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;

template <class Ours, class Theirs> struct SameCall : std::false_type {};
template <class... Ours, class... Theirs>
struct SameCall<Result(Ours...), CUresult(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs))
      return (samePassing<Ours, Theirs> && ...);
    return false;
  }();
};

// An argument such as cuMemAlloc is a macro of cuda.h and names the newest function.
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                  \
  static_assert(SameCall<Result parameters, decltype(::name)>::value, #symbol);
WEFT_CUDA_FUNCTIONS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION

#define SAME(ours, theirs) static_assert(int(ours) == int(theirs))
SAME(Result::Success, CUDA_SUCCESS);
SAME(Result::InvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(Result::OutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(Result::NotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(Result::Deinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(Result::StubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(Result::DeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME(Result::NoDevice, CUDA_ERROR_NO_DEVICE);
SAME(Result::InvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(Result::InvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME(Result::InvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(Result::NoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(Result::UnsupportedLimit, CUDA_ERROR_UNSUPPORTED_LIMIT);
SAME(Result::InvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME(Result::UnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(Result::FileNotFound, CUDA_ERROR_FILE_NOT_FOUND);
SAME(Result::InvalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME(Result::IllegalState, CUDA_ERROR_ILLEGAL_STATE);
SAME(Result::NotFound, CUDA_ERROR_NOT_FOUND);
SAME(Result::NotReady, CUDA_ERROR_NOT_READY);
SAME(Result::IllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(Result::LaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(Result::LaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(Result::ContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(Result::Assert, CUDA_ERROR_ASSERT);
SAME(Result::HardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(Result::IllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(Result::MisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(Result::InvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(Result::InvalidProgramCounter, CUDA_ERROR_INVALID_PC);
SAME(Result::LaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(Result::NotPermitted, CUDA_ERROR_NOT_PERMITTED);
SAME(Result::NotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(Result::SystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(Result::StreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(Result::Unknown, CUDA_ERROR_UNKNOWN);

using DA = DeviceAttribute;
SAME(DA::MaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(DA::MaxBlockDimX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SAME(DA::MaxBlockDimY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
SAME(DA::MaxBlockDimZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME(DA::MaxGridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(DA::MaxGridDimY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(DA::MaxGridDimZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(DA::MaxSharedMemoryPerBlock,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(DA::TotalConstantMemory, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
SAME(DA::WarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME(DA::MaxRegistersPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME(DA::ClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(DA::MultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(DA::Integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED);
SAME(DA::ComputeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
SAME(DA::ConcurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
SAME(DA::PciBusId, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
SAME(DA::PciDeviceId, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
SAME(DA::MemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(DA::GlobalMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(DA::L2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(DA::MaxThreadsPerMultiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME(DA::AsyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
SAME(DA::UnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
SAME(DA::ComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(DA::ComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(DA::MaxSharedMemoryPerMultiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(DA::MaxRegistersPerMultiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME(DA::CooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME(DA::MaxSharedMemoryPerBlockOptin,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(DA::MemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);

using FA = FunctionAttribute;
SAME(FA::MaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(FA::SharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(FA::ConstSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(FA::LocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(FA::NumRegs, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(FA::PtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME(FA::BinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(FA::MaxDynamicSharedSizeBytes,
     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);

SAME(JitOption::MaxRegisters, CU_JIT_MAX_REGISTERS);
SAME(JitOption::WallTime, CU_JIT_WALL_TIME);
SAME(JitOption::InfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
SAME(JitOption::InfoLogBufferSizeBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(JitOption::ErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME(JitOption::ErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(JitOption::OptimizationLevel, CU_JIT_OPTIMIZATION_LEVEL);
SAME(JitOption::GenerateLineInfo, CU_JIT_GENERATE_LINE_INFO);

using PS = ProcAddressStatus;
SAME(PS::Success, CU_GET_PROC_ADDRESS_SUCCESS);
SAME(PS::SymbolNotFound, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
SAME(PS::VersionNotSufficient, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
SAME(kStreamDefault, CU_STREAM_DEFAULT);
SAME(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(kEventDefault, CU_EVENT_DEFAULT);
SAME(kEventBlockingSync, CU_EVENT_BLOCKING_SYNC);
SAME(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);

TEST_CASE("own declarations of the driver API are those of cuda.h") {
  STATIC_REQUIRE(sizeof(Address) == sizeof(CUdeviceptr));
  STATIC_REQUIRE(sizeof(Device) == sizeof(CUdevice));
}
