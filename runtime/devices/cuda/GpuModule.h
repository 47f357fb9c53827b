//===- GpuModule.h - kernels loaded on a GPU --------------------*- C++ -*-===//
//
//   GpuModule::load(gpu, text, "kernels of \"step\"", module);
//   module->find("relu", {.threads = 256, .shared = 1024}, relu);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUMODULE_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUMODULE_H

#include "weft/runtime/devices/cuda/Gpu.h"

namespace weft::runtime {

/// A kernel, and the most blocks of a launch: at most as many as the GPU holds
/// at a time.
struct GpuFunction {
  cuda::Function function = nullptr;
  unsigned blocks = 1;
};

class GpuModule {
public:
  /// Loads a module; `what` names it in messages.
  static Status load(std::shared_ptr<const Gpu> gpu, const std::string &text,
                     const std::string &what, std::unique_ptr<GpuModule> &out);
  ~GpuModule();

  struct Block {
    unsigned threads, shared = 0; ///< bytes
  };
  Status find(const std::string &symbol, Block block, GpuFunction &out) const;

private:
  GpuModule(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  std::shared_ptr<const Gpu> gpu;
  cuda::Module module = nullptr;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUMODULE_H
