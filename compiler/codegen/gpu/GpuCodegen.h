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

/// The names of targets: cuda:sm_80, cuda:sm_90a, cuda:sm_100a
llvm::ArrayRef<llvm::StringLiteral> gpuTargets();
/// Opens one of gpuTargets().
std::unique_ptr<KernelCodegen> openGpuCodegen(llvm::StringRef target);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_GPU_GPUCODEGEN_H
