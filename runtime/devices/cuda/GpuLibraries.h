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
  Error cublasLt(std::shared_ptr<CublasLtHandle> &out) {
    const CublasLt *library = nullptr;
    std::string why;
    if (!handle && CublasLt::find(gpu->driver(), library, why))
      if (Error e = CublasLtHandle::create(*library, gpu, handle))
        return e;
    out = handle;
    return nullptr;
  }

private:
  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<CublasLtHandle> handle;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPULIBRARIES_H
