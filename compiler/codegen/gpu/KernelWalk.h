//===- KernelWalk.h - kernels that have code for GPUs -----------*- C++ -*-===//
//
// Each nest of a kernel is one launch, and launches follow one another: a kernel
// has one, or, where blocks share the depth of a contraction, two. A walk assigns
// work to threads: elements to threads, sums to one or several threads, rows to warps or blocks,
// tiles of sums or of transposed elements to blocks, and iterations of the
// independent loops of an op with its own loops to threads.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
#define WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H

#include "weft/dialects/nest/Nest.h"

#include <string>

namespace weft::gpu {

inline constexpr int64_t kBlockThreads = 256, kWarpLanes = 32,
                         kBlockWarps = kBlockThreads / kWarpLanes;

/// The independent loops of an op with its own loops: dimension and size.
llvm::SmallVector<std::pair<int64_t, int64_t>>
independentLoops(nest::LoopsOp loops);
/// The number of threads with work.
int64_t threadsOf(nest::LoopsOp loops);
/// The kernel's nests, if there is code for each; else none, with the reason in
/// `why`. Only nests of the parts of sums have others after them.
llvm::SmallVector<nest::LoopsOp> findLaunches(mlir::func::FuncOp kernel,
                                              std::string &why);
/// The name of a launch's function: the kernel's name for the first.
std::string launchName(mlir::func::FuncOp kernel, size_t launch);

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
