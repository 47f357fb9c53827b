//===- GpuLibraries.h - NVIDIA's libraries on one GPU -----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPULIBRARIES_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPULIBRARIES_H

#include "weft/runtime/devices/cuda/CublasLt.h"

namespace weft::runtime {

/// The libraries of one GPU. Each is opened for the first program that uses it,
/// and stays for all programs.
class GpuLibraries {
public:
  explicit GpuLibraries(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  /// Opens cuBLASLt; `out` stays null if there is none.
  Status cublasLt(std::shared_ptr<CublasLtHandle> &out) {
    if (!handle)
      if (auto library = CublasLt::find(gpu->driver()))
        if (Status ok = CublasLtHandle::create(**library, gpu, handle); !ok)
          return ok;
    out = handle;
    return {};
  }

private:
  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<CublasLtHandle> handle;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPULIBRARIES_H
