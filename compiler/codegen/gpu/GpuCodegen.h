//===- GpuCodegen.h - the code generator for NVIDIA GPUs --------*- C++ -*-===//
//
// Elementwise kernels and row reductions become one module of PTX (docs/gpu.md);
// any other kernel is refused by name.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_GPUCODEGEN_H
#define WEFT_COMPILER_CODEGEN_GPU_GPUCODEGEN_H

#include "weft/compiler/codegen/KernelCodegen.h"

namespace weft {

/// Opens the generator for a target of nest::allTargetLimits() that begins with
/// cuda:.
std::unique_ptr<KernelCodegen> openGpuCodegen(llvm::StringRef target);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_GPU_GPUCODEGEN_H
