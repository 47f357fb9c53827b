//===- BuiltinKernels.h - the runtime's own kernels on a GPU ----*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_BUILTINKERNELS_H
#define WEFT_RUNTIME_DEVICES_CUDA_BUILTINKERNELS_H

#include "weft/runtime/devices/cuda/GpuModule.h"

#include <map>

namespace weft::runtime {

/// Kernels that Weft contains. Each is loaded on first use, and stays for all
/// programs.
class BuiltinKernels {
public:
  static constexpr unsigned kThreads = 256; ///< threads of a block

  explicit BuiltinKernels(std::shared_ptr<const Gpu> gpu)
      : gpu(std::move(gpu)) {}
  /// Finds a kernel by the name of its text, "reduce-f32", and of its function
  /// there.
  Status find(const std::string &text, const char *symbol, GpuFunction &out);

private:
  std::shared_ptr<const Gpu> gpu;
  std::map<std::string, std::unique_ptr<GpuModule>> modules;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_BUILTINKERNELS_H
