//===- CudaDriver.h - a loaded driver, for tests ----------------*- C++ -*-===//
//
// Loads libcuda.so.1, whichever the loader finds: the fake or NVIDIA's.
//
//   const Cuda &cuda = loadedCuda();
//   Session session;                      // a context of device 0, one stream
//   cuda.cuMemAlloc(&address, 4096)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_CUDADRIVER_H
#define WEFT_TEST_CUDA_CUDADRIVER_H

#include "catch2/catch.hpp"
#include "weft/runtime/devices/cuda/DriverAbi.h"

#include <string>
#include <vector>

#include <dlfcn.h>

namespace weft::cuda {

struct Cuda {
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                  \
  Result(*name) parameters = nullptr;
  WEFT_CUDA_FUNCTIONS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
};

inline const Cuda &loadedCuda() {
  static const Cuda loaded = [] {
    Cuda cuda;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    INFO((library ? "" : dlerror()));
    REQUIRE(library);
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                  \
  cuda.name = reinterpret_cast<decltype(cuda.name)>(dlsym(library, #symbol));  \
  REQUIRE(cuda.name);
    WEFT_CUDA_FUNCTIONS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
    return cuda;
  }();
  return loaded;
}

inline std::ostream &operator<<(std::ostream &out, Result result) {
  const char *name = nullptr;
  loadedCuda().cuGetErrorName(result, &name);
  return out << (name ? name : "?") << " (" << int(result) << ")";
}

#define OK(call) REQUIRE((call) == Result::Success)

/// Kernels of 32 threads a block. scale: y[i] = a * x[i] + b for i < n, floats;
/// store: y[0] = v; shared: y[i] = x[blockDim - 1 - i] through dynamic memory.
inline const char *const kKernels = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 a, .param .f32 b, .param .u32 n) {
  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f1, [a]; ld.param.f32 %f2, [b]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1; @%p1 bra END;
  cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f3, [%rd4]; fma.rn.f32 %f4, %f3, %f1, %f2; st.global.f32 [%rd5], %f4;
END: ret;
}
.visible .entry store(.param .u64 y, .param .u32 v) {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [y]; ld.param.u32 %r1, [v]; st.global.u32 [%rd1], %r1; ret;
}
.extern .shared .align 16 .b8 memory[];
.visible .entry shared(.param .u64 x, .param .u64 y) {
  .reg .b32 %r<7>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4];
  mov.u64 %rd5, memory; add.s64 %rd6, %rd5, %rd3; st.shared.u32 [%rd6], %r3; bar.sync 0;
  sub.s32 %r4, %r2, %r1; add.s32 %r4, %r4, -1; mul.wide.u32 %rd7, %r4, 4; add.s64 %rd7, %rd5, %rd7; ld.shared.u32 %r5, [%rd7];
  add.s64 %rd8, %rd2, %rd3; st.global.u32 [%rd8], %r5; ret;
}
)";

/// A context of device 0 and a stream that ends with the scope.
struct Session {
  const Cuda &cuda = loadedCuda();
  Context context = nullptr;
  Stream stream = nullptr;
  Module module = nullptr;
  std::vector<Address> allocations;

  Session() {
    OK(cuda.cuInit(0));
    OK(cuda.cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuda.cuCtxSetCurrent(context));
    OK(cuda.cuStreamCreate(&stream, kStreamNonBlocking));
  }
  ~Session() {
    cuda.cuCtxSynchronize();
    for (Address address : allocations)
      cuda.cuMemFree(address);
    if (module)
      cuda.cuModuleUnload(module);
    cuda.cuStreamDestroy(stream);
    cuda.cuDevicePrimaryCtxRelease(0);
  }

  Address allocate(size_t bytes) {
    Address address = 0;
    OK(cuda.cuMemAlloc(&address, bytes));
    allocations.push_back(address);
    return address;
  }
  Address upload(const std::vector<float> &values) {
    Address address = allocate(values.size() * 4);
    OK(cuda.cuMemcpyHtoDAsync(address, values.data(), values.size() * 4,
                              stream));
    return address;
  }
  std::vector<float> download(Address address, size_t count, Stream from) {
    std::vector<float> values(count);
    OK(cuda.cuMemcpyDtoHAsync(values.data(), address, count * 4, from));
    OK(cuda.cuStreamSynchronize(from));
    return values;
  }
  Function function(const char *name) {
    if (!module)
      OK(cuda.cuModuleLoadDataEx(&module, kKernels, 0, nullptr, nullptr));
    Function function = nullptr;
    OK(cuda.cuModuleGetFunction(&function, module, name));
    return function;
  }
  /// y = a * x + b.
  Result scale(Address x, Address y, float a, float b, unsigned count,
               Stream on) {
    void *parameters[] = {&x, &y, &a, &b, &count};
    return cuda.cuLaunchKernel(function("scale"), (count + 31) / 32, 1, 1, 32,
                               1, 1, 0, on, parameters, nullptr);
  }
};

} // namespace weft::cuda

#endif // WEFT_TEST_CUDA_CUDADRIVER_H
