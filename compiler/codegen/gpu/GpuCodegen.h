//===- GpuCodegen.h - the code generator for NVIDIA GPUs --------*- C++ -*-===//
//
// The kernels of a program become one module of PTX (docs/gpu.md). A kernel
// without code (KernelWalk.h) is an error that names it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_GPUCODEGEN_H
#define WEFT_COMPILER_CODEGEN_GPU_GPUCODEGEN_H

#include "weft/compiler/codegen/KernelCodegen.h"

namespace weft {

/// Opens the generator for a target of nest::allTargetLimits() that starts with
/// cuda:.
std::unique_ptr<KernelCodegen> openGpuCodegen(llvm::StringRef target);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_GPU_GPUCODEGEN_H
