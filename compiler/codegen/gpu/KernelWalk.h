//===- KernelWalk.h - what GPUs have code for -------------------*- C++ -*-===//
//
// A kernel is one launch, so one nest, which walks over rows or over elements.
// Of rows a warp takes one, its lanes take columns, and what the row's
// reductions give stays in registers. Of elements a thread takes one, and of an
// op with loops of its own one turn of those that are independent.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
#define WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H

#include "weft/dialects/nest/Nest.h"

#include <string>

namespace weft::gpu {

inline constexpr int64_t kBlockThreads = 256, kWarpLanes = 32;

/// The independent loops of an op that has its own: dimension and size.
llvm::SmallVector<std::pair<int64_t, int64_t>>
independentLoops(nest::LoopsOp loops);
/// How many threads have work to do.
int64_t threadsOf(nest::LoopsOp loops);
/// The kernel's only nest, if there is code for it; else null, with the reason
/// in `why`.
nest::LoopsOp findLaunch(mlir::func::FuncOp kernel, std::string &why);

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
