//===- KernelWalk.h - how the threads of a kernel divide its work ---------===//
//
// A softmax of rows
//
//   %0 = weft.reduce max %x dims [1]     : tensor<8x10xf32> -> tensor<8xf32>
//   %1 = weft.broadcast %0 dims [0]      : tensor<8xf32> -> tensor<8x10xf32>
//   %2 = weft.sub %x, %1                 : tensor<8x10xf32>
//   ...                                    rows {8}: a warp takes a row
//
// walks over 8 rows: all that a row's results need is in the row itself. A warp
// takes a row, its lanes take columns, and what the row's reductions give stays
// in registers. A kernel without reductions walks over the elements of its
// results, a thread an element.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
#define WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace weft::gpu {

struct KernelWalk {
  bool byRows = false;
  /// The shape of all results; or of the rows, with which the shapes of the
  /// results and of all that is reduced begin.
  llvm::SmallVector<int64_t, 4> shape;
};

/// Nothing, with the reason in `why`, for a kernel that has no such walk.
std::optional<KernelWalk> findWalk(mlir::func::FuncOp kernel, std::string &why);

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_KERNELWALK_H
