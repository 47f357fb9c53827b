// The behaviour of CUDA's driver that the runtime relies on. The test runs on
// the fake driver, and with `cuda-driver-test ~[fake]` on a real one.
#include "weft/test/cuda/CudaDriver.h"

#include <numeric>
#include <thread>

using namespace weft::cuda;

static std::vector<float> iota(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST_CASE("functions are found by name and version") {
  const Cuda &cuda = loadedCuda();
  int version = 0;
  OK(cuda.cuDriverGetVersion(&version));
  CHECK(version >= 12000);
  void *function = nullptr;
  auto status = ProcAddressStatus::SymbolNotFound;
  OK(cuda.cuGetProcAddress("cuMemAlloc", &function, 12000, 0, &status));
  CHECK(function == reinterpret_cast<void *>(cuda.cuMemAlloc));
  CHECK(status == ProcAddressStatus::Success);
  // The documentation has NotFound; the driver 580.159 returned Success.
  Result unknown =
      cuda.cuGetProcAddress("cuMakeCoffee", &function, 12000, 0, &status);
  CHECK((unknown == Result::Success || unknown == Result::NotFound));
  CHECK(function == nullptr);
  CHECK(status == ProcAddressStatus::SymbolNotFound);
}

TEST_CASE("errors have names and texts") {
  const Cuda &cuda = loadedCuda();
  const char *text = nullptr;
  OK(cuda.cuGetErrorName(Result::OutOfMemory, &text));
  CHECK(std::string(text) == "CUDA_ERROR_OUT_OF_MEMORY");
  OK(cuda.cuGetErrorString(Result::IllegalAddress, &text));
  CHECK(std::string(text) == "an illegal memory access was encountered");
  CHECK(cuda.cuGetErrorName(Result(12345), &text) == Result::InvalidValue);
}

TEST_CASE("devices report their name, attributes and memory") {
  Session s;
  int count = 0, value = 0;
  OK(s.cuda.cuDeviceGetCount(&count));
  CHECK(count >= 1);
  Device device = -1;
  CHECK(s.cuda.cuDeviceGet(&device, count) == Result::InvalidDevice);
  OK(s.cuda.cuDeviceGet(&device, 0));
  char name[64] = "";
  OK(s.cuda.cuDeviceGetName(name, sizeof name, device));
  CHECK(std::string(name) != "");
  OK(s.cuda.cuDeviceGetAttribute(&value, DeviceAttribute::WarpSize, device));
  CHECK(value == 32);
  OK(s.cuda.cuDeviceGetAttribute(
      &value, DeviceAttribute::ComputeCapabilityMajor, device));
  CHECK(value >= 8);
  size_t total = 0, free = 0, seen = 0;
  OK(s.cuda.cuDeviceTotalMem(&total, device));
  OK(s.cuda.cuMemGetInfo(&free, &seen));
  CHECK(free <= seen);
  CHECK(seen <= total);
}

TEST_CASE("the primary context is one, and current for a thread") {
  Session s;
  Context again = nullptr, current = nullptr;
  OK(s.cuda.cuDevicePrimaryCtxRetain(&again, 0));
  CHECK(again == s.context);
  OK(s.cuda.cuDevicePrimaryCtxRelease(0));
  OK(s.cuda.cuCtxGetCurrent(&current));
  CHECK(current == s.context);
  Result inOther = Result::Success;
  std::thread([&] {
    Address address = 0;
    s.cuda.cuCtxGetCurrent(&current);
    inOther = s.cuda.cuMemAlloc(&address, 16);
  }).join();
  CHECK(current == nullptr);
  CHECK(inOther == Result::InvalidContext);
}

TEST_CASE("memory is counted, nothing and too much are refused") {
  Session s;
  size_t before = 0, after = 0, total = 0;
  OK(s.cuda.cuMemGetInfo(&before, &total));
  Address address = s.allocate(64 << 20);
  CHECK(address % 256 == 0);
  OK(s.cuda.cuMemGetInfo(&after, &total));
  CHECK(before - after >= size_t(64 << 20));
  CHECK(s.cuda.cuMemAlloc(&address, 0) == Result::InvalidValue);
  CHECK(s.cuda.cuMemAlloc(&address, total + 1) == Result::OutOfMemory);
  OK(s.cuda.cuMemFree(0));
}

TEST_CASE("copies and fills go through a stream in order") {
  Session s;
  std::vector<float> x = iota(1000);
  Address a = s.upload(x), b = s.allocate(4000);
  OK(s.cuda.cuMemcpyDtoDAsync(b, a, 4000, s.stream));
  OK(s.cuda.cuMemsetD32Async(b + 400, 0x3F800000, 100, s.stream));
  OK(s.cuda.cuMemsetD8Async(b + 4, 0, 8, s.stream));
  OK(s.cuda.cuMemcpyDtoHAsync(nullptr, b, 0, s.stream));
  std::vector<float> found = s.download(b, 1000, s.stream);
  std::fill_n(x.begin() + 100, 100, 1.0f);
  x[1] = x[2] = 0;
  CHECK(found == x);
}

TEST_CASE("a pageable source may change once the call returned") {
  Session s;
  std::vector<float> x = iota(256), kept = x;
  Address a = s.upload(x);
  std::fill(x.begin(), x.end(), -1.0f);
  CHECK(s.download(a, 256, s.stream) == kept);
}

TEST_CASE("pinned memory is copied while the host goes on") {
  Session s;
  void *memory = nullptr;
  OK(s.cuda.cuMemAllocHost(&memory, 4096));
  auto *floats = static_cast<float *>(memory);
  std::iota(floats, floats + 512, 1.0f);
  Address a = s.allocate(2048);
  OK(s.cuda.cuMemcpyHtoDAsync(a, floats, 2048, s.stream));
  OK(s.cuda.cuMemcpyDtoHAsync(floats + 512, a, 2048, s.stream));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  CHECK(std::equal(floats, floats + 512, floats + 512));
  OK(s.cuda.cuMemFreeHost(memory));
}

TEST_CASE("kernels of a stream take place in order, parameters are those of "
          "the call") {
  Session s;
  Address x = s.upload(iota(100)), y = s.allocate(400);
  for (int i = 0; i < 5; ++i)
    OK(s.scale(i ? y : x, y, 2, float(i), 100, s.stream));
  std::vector<float> wanted = iota(100);
  for (float &value : wanted)
    for (int i = 0; i < 5; ++i)
      value = 2 * value + float(i);
  CHECK(s.download(y, 100, s.stream) == wanted);
}

TEST_CASE("an event orders two streams") {
  Session s;
  Stream other = nullptr;
  Event ready = nullptr;
  OK(s.cuda.cuStreamCreate(&other, kStreamNonBlocking));
  OK(s.cuda.cuEventCreate(&ready, kEventDisableTiming));
  OK(s.cuda.cuStreamWaitEvent(other, ready,
                              0)); // never recorded: waits for nothing
  Address x = s.upload(iota(64)), y = s.allocate(256), z = s.allocate(256);
  OK(s.scale(x, y, 3, 1, 64, s.stream));
  OK(s.cuda.cuEventRecord(ready, s.stream));
  OK(s.cuda.cuStreamWaitEvent(other, ready, 0));
  OK(s.cuda.cuEventRecord(ready,
                          s.stream)); // the wait is for the record before it
  OK(s.scale(y, z, 1, 1, 64, other));
  std::vector<float> wanted = iota(64);
  for (float &value : wanted)
    value = 3 * value + 2;
  CHECK(s.download(z, 64, other) == wanted);
  OK(s.cuda.cuEventDestroy(ready));
  OK(s.cuda.cuStreamDestroy(other));
}

TEST_CASE("a kernel reads a peer's memory behind an event of the peer") {
  const Cuda &cuda = loadedCuda();
  int count = 0, can = 0;
  OK(cuda.cuInit(0));
  OK(cuda.cuDeviceGetCount(&count));
  if (count > 1)
    OK(cuda.cuDeviceCanAccessPeer(&can, 0, 1));
  if (!can) {
    WARN("there are no two GPUs that address each other's memory");
    return;
  }
  Session s;
  Context peer = nullptr;
  Stream theirs = nullptr;
  Event written = nullptr;
  Address x = 0;
  OK(cuda.cuDevicePrimaryCtxRetain(&peer, 1));
  OK(cuda.cuCtxEnablePeerAccess(peer, 0));
  CHECK(cuda.cuCtxEnablePeerAccess(peer, 0) ==
        Result::PeerAccessAlreadyEnabled);
  Address y = s.allocate(256);
  std::vector<float> values = iota(64), wanted = values;
  OK(cuda.cuCtxSetCurrent(peer));
  OK(cuda.cuStreamCreate(&theirs, kStreamNonBlocking));
  OK(cuda.cuEventCreate(&written, kEventDisableTiming));
  OK(cuda.cuMemAlloc(&x, 256));
  OK(cuda.cuMemcpyHtoDAsync(x, values.data(), 256, theirs));
  OK(cuda.cuEventRecord(written, theirs));
  OK(cuda.cuCtxSetCurrent(s.context));
  OK(cuda.cuStreamWaitEvent(s.stream, written, 0));
  OK(s.scale(x, y, 3, 1, 64, s.stream));
  for (float &value : wanted)
    value = 3 * value + 1;
  CHECK(s.download(y, 64, s.stream) == wanted);
  OK(cuda.cuCtxSetCurrent(peer));
  OK(cuda.cuMemFree(x));
  OK(cuda.cuEventDestroy(written));
  OK(cuda.cuStreamDestroy(theirs));
  OK(cuda.cuCtxSetCurrent(s.context));
  OK(cuda.cuDevicePrimaryCtxRelease(1));
}

TEST_CASE("events are asked, waited for and timed") {
  Session s;
  Event start = nullptr, end = nullptr, plain = nullptr;
  OK(s.cuda.cuEventCreate(&start, kEventDefault));
  OK(s.cuda.cuEventCreate(&end, kEventDefault));
  OK(s.cuda.cuEventCreate(&plain, kEventDisableTiming));
  OK(s.cuda.cuEventQuery(start)); // never recorded: nothing is left to do
  Address x = s.upload(iota(64));
  OK(s.cuda.cuEventRecord(start, s.stream));
  OK(s.scale(x, x, 2, 0, 64, s.stream));
  OK(s.cuda.cuEventRecord(end, s.stream));
  OK(s.cuda.cuEventRecord(plain, s.stream));
  Result answer = Result::NotReady;
  for (int i = 0; i < 10000000 && answer == Result::NotReady; ++i)
    answer = s.cuda.cuEventQuery(end);
  CHECK(answer == Result::Success);
  OK(s.cuda.cuEventSynchronize(plain));
  OK(s.cuda.cuStreamQuery(s.stream));
  float milliseconds = -1;
  OK(s.cuda.cuEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds >= 0);
  CHECK(s.cuda.cuEventElapsedTime(&milliseconds, start, plain) ==
        Result::InvalidHandle);
  for (Event event : {start, end, plain})
    OK(s.cuda.cuEventDestroy(event));
}

TEST_CASE("the stream null keeps order with blocking streams") {
  Session s;
  Stream blocking = nullptr;
  OK(s.cuda.cuStreamCreate(&blocking, kStreamDefault));
  Address x = s.upload(iota(32)), y = s.allocate(128), z = s.allocate(128);
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(s.scale(x, y, 2, 0, 32, blocking));
  OK(s.scale(y, z, 2, 0, 32, nullptr));
  OK(s.scale(z, y, 2, 0, 32, blocking));
  std::vector<float> wanted = iota(32);
  for (float &value : wanted)
    value *= 8;
  CHECK(s.download(y, 32, blocking) == wanted);
  OK(s.cuda.cuStreamDestroy(blocking));
}

TEST_CASE("memory of a stream comes and goes in its order") {
  Session s;
  Address x = s.upload(iota(64)), y = 0, z = 0;
  OK(s.cuda.cuMemAllocAsync(&y, 256, s.stream));
  OK(s.scale(x, y, 2, 0, 64, s.stream));
  OK(s.scale(y, x, 2, 0, 64, s.stream));
  OK(s.cuda.cuMemFreeAsync(y, s.stream));
  OK(s.cuda.cuMemAllocAsync(&z, 256, s.stream));
  OK(s.scale(x, z, 1, 0, 64, s.stream));
  OK(s.cuda.cuMemFreeAsync(z, s.stream));
  std::vector<float> wanted = iota(64);
  for (float &value : wanted)
    value *= 4;
  CHECK(s.download(x, 64, s.stream) == wanted);
}

TEST_CASE("PTX is loaded, other text is an error with a message") {
  Session s;
  Module module = nullptr;
  char log[512] = "";
  JitOption keys[] = {JitOption::ErrorLogBuffer,
                      JitOption::ErrorLogBufferSizeBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  std::string text = kKernels;
  CHECK(s.cuda.cuModuleLoadDataEx(&module, (text + "nonsense").c_str(), 2, keys,
                                  values) == Result::InvalidPtx);
  CHECK(std::string(log) != "");
  int version = 0;
  OK(s.cuda.cuDriverGetVersion(&version));
  JitOption split = JitOption::SplitCompile;
  void *threads = nullptr; // one for each core
  if (version >= 13000) {
    OK(s.cuda.cuModuleLoadDataEx(&module, kKernels, 1, &split, &threads));
    OK(s.cuda.cuModuleUnload(module));
  }
  Function function = s.function("scale");
  CHECK(function);
  CHECK(s.cuda.cuModuleGetFunction(&function, s.module, "missing") ==
        Result::NotFound);
}

TEST_CASE("a launch that cannot be is refused, and the next one works") {
  Session s;
  Address y = s.upload({0});
  unsigned value = 7;
  void *parameters[] = {&y, &value};
  Function store = s.function("store");
  auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return s.cuda.cuLaunchKernel(store, grid, 1, 1, block, 1, 1, shared,
                                 s.stream, parameters, nullptr);
  };
  CHECK(launch(0, 1, 0) == Result::InvalidValue);
  CHECK(launch(1, 0, 0) == Result::InvalidValue);
  CHECK(launch(1, 2048, 0) == Result::InvalidValue);
  CHECK(launch(1, 1, 100 * 1024) == Result::InvalidValue);
  OK(launch(1, 1, 0));
  value = 8; // parameters were copied
  OK(s.cuda.cuStreamSynchronize(s.stream));
  unsigned found = 0;
  OK(s.cuda.cuMemcpyDtoHAsync(&found, y, 4, s.stream));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  CHECK(found == 7);
}

TEST_CASE("dynamic shared memory above 48 KiB is asked for") {
  Session s;
  Function shared = s.function("shared");
  Address x = s.upload(iota(256)), y = s.allocate(1024);
  void *parameters[] = {&x, &y};
  int value = 0;
  OK(s.cuda.cuFuncSetAttribute(
      shared, FunctionAttribute::MaxDynamicSharedSizeBytes, 100 * 1024));
  OK(s.cuda.cuFuncGetAttribute(
      &value, FunctionAttribute::MaxDynamicSharedSizeBytes, shared));
  CHECK(value == 100 * 1024);
  CHECK(s.cuda.cuFuncSetAttribute(shared,
                                  FunctionAttribute::MaxDynamicSharedSizeBytes,
                                  1 << 20) == Result::InvalidValue);
  OK(s.cuda.cuLaunchKernel(shared, 1, 1, 1, 256, 1, 1, 100 * 1024, s.stream,
                           parameters, nullptr));
  std::vector<float> wanted = iota(256);
  std::reverse(wanted.begin(), wanted.end());
  CHECK(s.download(y, 256, s.stream) == wanted);
  OK(s.cuda.cuFuncGetAttribute(&value, FunctionAttribute::MaxThreadsPerBlock,
                               shared));
  CHECK(value == 1024);
  OK(s.cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, shared, 256,
                                                        0));
  CHECK(value >= 1);
  CHECK(value <= 32);
  OK(s.cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, shared, 256,
                                                        100 * 1024));
  CHECK(value <= 2);
}

TEST_CASE("work is done only when somebody waits for it", "[fake]") {
  Session s;
  Address y = s.upload({0});
  OK(s.cuda.cuStreamSynchronize(s.stream));
  void *pinned = nullptr;
  OK(s.cuda.cuMemAllocHost(&pinned, 4));
  *static_cast<float *>(pinned) = 1;
  OK(s.cuda.cuMemcpyHtoDAsync(y, pinned, 4, s.stream));
  *static_cast<float *>(pinned) = 2; // too early, and the copy sees it
  CHECK(s.download(y, 1, s.stream) == std::vector<float>{2});
  OK(s.cuda.cuMemFreeHost(pinned));
}
