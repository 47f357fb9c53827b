// Mistakes that the fake driver must report. Each runs in a process of its own,
// this program with a hidden case, as findings set the exit status.
#include "weft/test/cuda/CudaDriver.h"

#include <array>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

using namespace weft::cuda;
using Catch::Matchers::Contains;

namespace {
struct Ended {
  int status = 0; ///< exit status, or 128 + the signal
  std::string text;
};
} // namespace

/// Runs a hidden case of this program with environment variables.
static Ended runCase(const std::string &name,
                     const std::string &environment = "") {
  std::array<char, 4096> own{};
  REQUIRE(readlink("/proc/self/exe", own.data(), own.size() - 1) > 0);
  std::string command = "env FAKE_CUDA_SEED=1 " + environment + " '" +
                        own.data() + "' '" + name + "' 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  Ended ended;
  for (size_t got; (got = fread(own.data(), 1, own.size(), pipe)) > 0;)
    ended.text.append(own.data(), got);
  int status = pclose(pipe);
  ended.status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

static void checkFound(const std::string &name, const std::string &text,
                       const std::string &environment = "") {
  Ended ended = runCase(name, environment);
  INFO(name << ": " << ended.text);
  CHECK(ended.status == 97);
  CHECK_THAT(ended.text, Contains("fake-cuda: ") && Contains(text));
}
static void checkClean(const std::string &name,
                       const std::string &environment) {
  Ended ended = runCase(name, environment);
  INFO(name << ": " << ended.text);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.text, !Contains("fake-cuda"));
}

TEST_CASE("case leak", "[.]") {
  const Cuda &cuda = loadedCuda();
  Context context = nullptr;
  Address address = 0;
  Stream stream = nullptr;
  Event event = nullptr;
  Module module = nullptr;
  void *pinned = nullptr;
  OK(cuda.cuInit(0));
  OK(cuda.cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuda.cuCtxSetCurrent(context));
  OK(cuda.cuMemAlloc(&address, 100));
  OK(cuda.cuMemAllocHost(&pinned, 100));
  OK(cuda.cuStreamCreate(&stream, 0));
  OK(cuda.cuEventCreate(&event, 0));
  OK(cuda.cuModuleLoadDataEx(&module, kKernels, 0, nullptr, nullptr));
}
TEST_CASE("objects that are left at the end are named", "[fake]") {
  for (const char *text :
       {"100 bytes of device 0 are not freed", "1 block of pinned host memory",
        "1 stream is not", "1 event is not", "1 module is not",
        "is retained 1 times"})
    checkFound("case leak", text);
}

TEST_CASE("case unordered copy", "[.]") {
  Session s;
  Stream other = nullptr;
  OK(s.cuda.cuStreamCreate(&other, kStreamNonBlocking));
  Address x = s.upload(std::vector<float>(64, 1)), y = s.allocate(256);
  OK(s.cuda.cuMemsetD8Async(y, 0, 256, s.stream));
  OK(s.scale(x, y, 2, 0, 64, other));
  OK(s.cuda.cuCtxSynchronize());
  OK(s.cuda.cuStreamDestroy(other));
}
TEST_CASE("work in no order is named with both operations, under every seed",
          "[fake]") {
  for (int seed = 1; seed < 6; ++seed)
    checkFound("case unordered copy", "nothing orders",
               "FAKE_CUDA_SEED=" + std::to_string(seed));
  checkFound("case unordered copy", "kernel 'scale', operation 1 of stream");
  checkFound("case unordered copy",
             "operation 1 of stream 0, which writes 256 bytes from 0x");
}

TEST_CASE("case use after free", "[.]") {
  Session s;
  Address x = 0;
  OK(s.cuda.cuMemAlloc(&x, 64));
  OK(s.cuda.cuMemFree(x));
  CHECK(s.cuda.cuMemsetD8Async(x, 0, 64, s.stream) == Result::InvalidValue);
}
TEST_CASE("case kernel after free", "[.]") {
  Session s;
  Address x = s.upload(std::vector<float>(16, 1)), y = 0;
  OK(s.cuda.cuMemAllocAsync(&y, 64, s.stream));
  OK(s.cuda.cuMemFreeAsync(y, s.stream));
  OK(s.scale(x, y, 1, 0, 16, s.stream));
  CHECK(s.cuda.cuStreamSynchronize(s.stream) == Result::IllegalAddress);
}
TEST_CASE("case free while enqueued", "[.]") {
  Session s;
  Address x = 0;
  OK(s.cuda.cuMemAlloc(&x, 64));
  OK(s.cuda.cuMemsetD8Async(x, 0, 64, s.stream));
  OK(s.cuda.cuMemFree(x));
}
TEST_CASE("case free twice", "[.]") {
  Session s;
  Address x = 0;
  OK(s.cuda.cuMemAlloc(&x, 64));
  OK(s.cuda.cuMemFree(x));
  CHECK(s.cuda.cuMemFree(x) == Result::InvalidValue);
}
TEST_CASE("case free in both ways", "[.]") {
  Session s;
  Address x = 0;
  OK(s.cuda.cuMemAllocAsync(&x, 64, s.stream));
  OK(s.cuda.cuMemFreeAsync(x, s.stream));
  CHECK(s.cuda.cuMemFree(x) == Result::InvalidValue);
}
TEST_CASE("case free in another stream", "[.]") {
  Session s;
  Stream other = nullptr;
  OK(s.cuda.cuStreamCreate(&other, kStreamNonBlocking));
  Address x = s.upload(std::vector<float>(16, 1)), y = 0;
  OK(s.cuda.cuMemAllocAsync(&y, 64, s.stream));
  OK(s.scale(x, y, 1, 0, 16, s.stream));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(s.scale(x, y, 2, 0, 16, s.stream));
  OK(s.cuda.cuMemFreeAsync(y, other));
  s.cuda.cuCtxSynchronize();
  s.cuda.cuStreamDestroy(other);
}
TEST_CASE("case pinned freed early", "[.]") {
  Session s;
  void *pinned = nullptr;
  Address x = s.allocate(64);
  OK(s.cuda.cuMemAllocHost(&pinned, 64));
  OK(s.cuda.cuMemcpyHtoDAsync(x, pinned, 64, s.stream));
  OK(s.cuda.cuMemFreeHost(pinned));
}
TEST_CASE("memory lives as long as it is used", "[fake]") {
  checkFound("case use after free",
             "cuMemsetD8Async of 64 bytes of memory that cuMemFree has freed");
  checkFound(
      "case kernel after free",
      "gets memory that cuMemFreeAsync, operation 3 of stream 0 has freed");
  checkFound("case free while enqueued",
             "cuMemFree of memory that cuMemsetD8Async, operation 1 of stream "
             "0 still needs");
  checkFound("case free twice", "cuMemFree of memory that cuMemFree has freed");
  checkFound("case free in both ways",
             "cuMemFree of memory that cuMemFreeAsync, operation 2 of stream 0 "
             "has freed");
  checkFound("case pinned freed early",
             "cuMemFreeHost of memory that cuMemcpyHtoDAsync, operation 1 of "
             "stream 0 still needs");
  for (int seed = 1; seed < 6; ++seed) {
    Ended ended = runCase("case free in another stream",
                          "FAKE_CUDA_SEED=" + std::to_string(seed));
    CHECK(ended.status == 97);
    CHECK_THAT(ended.text, Contains("nothing orders") || Contains("has freed"));
  }
}

TEST_CASE("case host reads device memory", "[.]") {
  Session s;
  Address x = s.allocate(64);
  volatile int value = *reinterpret_cast<volatile int *>(x);
  (void)value;
}
TEST_CASE("case beyond the end", "[.]") {
  Session s;
  Address x = s.upload(std::vector<float>(33, 1)), y = s.allocate(64);
  OK(s.scale(x, y, 1, 0, 33, s.stream)); // y has 16
  CHECK(s.cuda.cuStreamSynchronize(s.stream) == Result::IllegalAddress);
  Address z = 0; // the error stays
  CHECK(s.cuda.cuMemAlloc(&z, 16) == Result::IllegalAddress);
  CHECK(s.cuda.cuStreamSynchronize(s.stream) == Result::IllegalAddress);
}
TEST_CASE("case unwritten", "[.]") {
  Session s;
  Address x = s.allocate(64), y = s.allocate(64);
  OK(s.scale(x, y, 1, 0, 16, s.stream));
  OK(s.cuda.cuStreamSynchronize(s.stream));
}
TEST_CASE("case race", "[.]") {
  Session s;
  Address x = s.upload(std::vector<float>(64, 1));
  OK(s.scale(x, x + 4, 1, 0, 63, s.stream));
  OK(s.cuda.cuStreamSynchronize(s.stream));
}
TEST_CASE("memory errors of kernels are found", "[fake]") {
  CHECK(runCase("case host reads device memory").status != 0);
  checkFound("case beyond the end", "kernel 'scale', line 12");
  checkFound("case beyond the end", "writes 4 bytes at 0x");
  CHECK_THAT(runCase("case beyond the end").text, Contains("All tests passed"));
  checkFound("case unwritten", "which were never written");
  checkClean("case unwritten", "FAKE_CUDA_UNWRITTEN=ignore");
  checkFound("case race", "of this launch");
}

TEST_CASE("case dead handles", "[.]") {
  Session s;
  Event event = nullptr;
  Stream stream = nullptr;
  OK(s.cuda.cuEventCreate(&event, 0));
  OK(s.cuda.cuEventDestroy(event));
  CHECK(s.cuda.cuEventRecord(event, s.stream) == Result::InvalidHandle);
  OK(s.cuda.cuStreamCreate(&stream, 0));
  OK(s.cuda.cuStreamDestroy(stream));
  CHECK(s.cuda.cuStreamSynchronize(stream) == Result::InvalidHandle);
  Function function = s.function("store");
  OK(s.cuda.cuModuleUnload(s.module));
  s.module = nullptr;
  CHECK(s.cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s.stream, nullptr,
                              nullptr) == Result::InvalidHandle);
}
TEST_CASE("case unload early", "[.]") {
  Session s;
  Address x = s.upload(std::vector<float>(16, 1));
  OK(s.scale(x, x, 1, 0, 16, s.stream));
  OK(s.cuda.cuModuleUnload(s.module));
  s.module = nullptr;
}
TEST_CASE("handles live as long as they are used", "[fake]") {
  checkFound("case dead handles",
             "an event that does not exist, or no more, is used");
  checkFound("case dead handles",
             "a stream that does not exist, or no more, is used");
  checkFound("case dead handles",
             "a function of a module that is not loaded, or no more, is used");
  CHECK_THAT(runCase("case dead handles").text, Contains("All tests passed"));
  checkFound("case unload early",
             "cuModuleUnload of the module of kernel 'scale', operation 2 of "
             "stream 0, which is not over");
}

TEST_CASE("case failing calls", "[.]") {
  Session s;
  Address x = s.allocate(16);
  CHECK(s.cuda.cuMemAlloc(&x, 16) == Result::OutOfMemory);
  s.allocate(16);
  CHECK(s.cuda.cuStreamSynchronize(s.stream) == Result::LaunchFailed);
  OK(s.cuda.cuStreamSynchronize(s.stream));
}
TEST_CASE("case failing kernel", "[.]") {
  Session s;
  Address x = s.upload(std::vector<float>(16, 1));
  OK(s.scale(x, x, 1, 0, 16, s.stream));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(s.scale(x, x, 1, 0, 16, s.stream));
  CHECK(s.cuda.cuStreamSynchronize(s.stream) == Result::IllegalAddress);
  CHECK(s.cuda.cuStreamQuery(s.stream) == Result::IllegalAddress);
}
TEST_CASE("case small memory", "[.]") {
  Session s;
  Address x = s.allocate(600), y = 0;
  CHECK(s.cuda.cuMemAlloc(&y, 600) == Result::OutOfMemory);
  OK(s.cuda.cuMemFree(x));
  s.allocations.clear();
  for (int i = 0; i < 3; ++i) { // the stream's own memory again
    OK(s.cuda.cuMemAllocAsync(&y, 600, s.stream));
    OK(s.cuda.cuMemFreeAsync(y, s.stream));
  }
  OK(s.cuda.cuStreamSynchronize(s.stream));
  s.allocate(600);
}
TEST_CASE("case many mistakes", "[.]") {
  Session s;
  for (int i = 0; i < 60; ++i)
    CHECK(s.cuda.cuMemFree(1) == Result::InvalidValue);
}
TEST_CASE("case not initialized", "[.]") {
  int count = 0;
  CHECK(loadedCuda().cuDeviceGetCount(&count) == Result::NotInitialized);
}
TEST_CASE("case no device", "[.]") {
  CHECK(loadedCuda().cuInit(0) == Result::NoDevice);
}
TEST_CASE("case old driver", "[.]") {
  const Cuda &cuda = loadedCuda();
  int version = 0;
  OK(cuda.cuDriverGetVersion(&version));
  CHECK(version == 11010);
  void *function = nullptr;
  auto status = ProcAddressStatus::Success;
  OK(cuda.cuGetProcAddress("cuMemAllocAsync", &function, 12040, 0, &status));
  CHECK(function == nullptr);
  CHECK(status == ProcAddressStatus::VersionNotSufficient);
}
TEST_CASE("case missing function", "[.]") {
  void *function = nullptr;
  auto status = ProcAddressStatus::Success;
  OK(loadedCuda().cuGetProcAddress("cuMemAllocAsync", &function, 12040, 0,
                                   &status));
  CHECK(function == nullptr);
  CHECK(status == ProcAddressStatus::SymbolNotFound);
}
TEST_CASE("case eight devices", "[.]") {
  const Cuda &cuda = loadedCuda();
  int count = 0;
  OK(cuda.cuInit(0));
  OK(cuda.cuDeviceGetCount(&count));
  CHECK(count == 8);
  Context first = nullptr, last = nullptr;
  OK(cuda.cuDevicePrimaryCtxRetain(&first, 0));
  OK(cuda.cuDevicePrimaryCtxRetain(&last, 7));
  CHECK(first != last);
  Address x = 0, y = 0;
  Stream stream = nullptr;
  OK(cuda.cuCtxSetCurrent(first));
  OK(cuda.cuMemAlloc(&x, 64));
  OK(cuda.cuCtxSetCurrent(last));
  OK(cuda.cuMemAlloc(&y, 64));
  OK(cuda.cuStreamCreate(&stream, 0));
  OK(cuda.cuMemsetD32Async(y, 7, 16, stream));
  OK(cuda.cuMemcpyDtoDAsync(x, y, 64, stream));
  unsigned found[16] = {};
  OK(cuda.cuMemcpyDtoHAsync(found, x, 64, stream));
  OK(cuda.cuStreamSynchronize(stream));
  CHECK(found[15] == 7);
  OK(cuda.cuCtxSetCurrent(first));
  CHECK(cuda.cuStreamSynchronize(stream) == Result::InvalidHandle);
  OK(cuda.cuMemFree(x));
  OK(cuda.cuCtxSetCurrent(last));
  OK(cuda.cuMemFree(y));
  OK(cuda.cuStreamDestroy(stream));
  OK(cuda.cuDevicePrimaryCtxRelease(0));
  OK(cuda.cuDevicePrimaryCtxRelease(7));
}
TEST_CASE("case images", "[.]") {
  Session s;
  Module module = nullptr;
  CHECK(s.cuda.cuModuleLoadDataEx(&module,
                                  "\x7f"
                                  "ELF and more",
                                  0, nullptr,
                                  nullptr) == Result::NoBinaryForGpu);
  auto load = [&](const std::string &head) {
    return s.cuda.cuModuleLoadDataEx(
        &module, (head + "\n.address_size 64\n.entry k() { ret; }").c_str(), 0,
        nullptr, nullptr);
  };
  CHECK(load(".version 8.0\n.target sm_100") == Result::NoBinaryForGpu);
  CHECK(load(".version 8.0\n.target sm_80a") == Result::NoBinaryForGpu);
  CHECK(load(".version 8.6\n.target sm_80") == Result::UnsupportedPtxVersion);
  OK(load(".version 8.0\n.target sm_90a"));
  OK(s.cuda.cuModuleUnload(module));
}
TEST_CASE("the environment chooses devices and faults", "[fake]") {
  checkClean("case failing calls",
             "FAKE_CUDA_FAIL=cuMemAlloc_v2:2,cuStreamSynchronize:1:719");
  checkClean("case failing kernel", "FAKE_CUDA_FAIL=kernel:2");
  checkClean("case small memory", "FAKE_CUDA_MEMORY=1000");
  checkClean("case not initialized", "");
  checkClean("case no device", "FAKE_CUDA_GPUS=0");
  checkClean("case old driver", "FAKE_CUDA_VERSION=11010");
  checkClean("case missing function", "FAKE_CUDA_MISSING=cuMemAllocAsync");
  checkClean("case eight devices", "FAKE_CUDA_GPUS=8");
  checkClean("case images", "FAKE_CUDA_VERSION=12040");
  checkFound("case many mistakes", "fake-cuda: 60 findings");
  checkFound("case no device", "FAKE_CUDA_GPUS=nine is not a number",
             "FAKE_CUDA_GPUS=nine");
}
