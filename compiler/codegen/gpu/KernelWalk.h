//===- KernelWalk.h - kernels that have code for GPUs -----------*- C++ -*-===//
//
// A kernel is one launch and so one nest, which walks over rows or elements. A
// warp takes a row, its lanes take columns, and results of the row's reductions
// stay in registers. A thread takes one element, or one iteration of the
// independent loops of an op with loops of its own.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
#define WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H

#include "weft/dialects/nest/Nest.h"

#include <string>

namespace weft::gpu {

inline constexpr int64_t kBlockThreads = 256, kWarpLanes = 32;

/// The independent loops of an op with loops of its own: dimension and size.
llvm::SmallVector<std::pair<int64_t, int64_t>>
independentLoops(nest::LoopsOp loops);
/// The number of threads with work.
int64_t threadsOf(nest::LoopsOp loops);
/// The kernel's only nest, if there is code for it; else null, with the reason
/// in `why`.
nest::LoopsOp findLaunch(mlir::func::FuncOp kernel, std::string &why);

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
