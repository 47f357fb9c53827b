//===- KernelWalk.h - kernels that have code for GPUs -----------*- C++ -*-===//
//
// A kernel is one launch and so one nest. Its walk assigns work to threads:
// elements to threads, sums to one or several threads, rows to warps or blocks,
// tiles of sums or of transposed elements to blocks, and iterations of the
// independent loops of an op with its own loops to threads.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
#define WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H

#include "weft/dialects/nest/Nest.h"

#include <string>

namespace weft::gpu {

inline constexpr int64_t kBlockThreads = 256, kWarpLanes = 32;

/// The independent loops of an op with its own loops: dimension and size.
llvm::SmallVector<std::pair<int64_t, int64_t>>
independentLoops(nest::LoopsOp loops);
/// The number of threads with work.
int64_t threadsOf(nest::LoopsOp loops);
/// The kernel's only nest, if there is code for it; else null, with the reason
/// in `why`.
nest::LoopsOp findLaunch(mlir::func::FuncOp kernel, std::string &why);

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
