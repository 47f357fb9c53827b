//===- UpdateWalk.h - scatters whose result is divided among warps -*- C++ -*-===//
//
//   %r = weft.scatter sum %x at %ids with %u       rows of 768 numbers
//       : tensor<50257x768xf32>, tensor<16384x1xi32>, tensor<16384x768xf32>
//
//   #nest.updates<parts = 352, width = 128, side = 4, together = 4>
//
// The rows, along which updates may meet, are divided into parts of 143. A warp
// owns 128 columns of a part: it copies them from %x, reads all indices in
// order, 32 at a time, and adds the updates that are in its part. No other warp
// writes there, and the numbers of an element are added in the order of the
// updates.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_UPDATEWALK_H
#define WEFT_DIALECTS_NEST_UPDATEWALK_H

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

namespace weft::nest {

/// The dimensions of a scatter's result and updates, by role.
struct UpdateShape {
  /// Dimensions of the result: with an update for each position (batch), which
  /// each update covers (window), and along which updates may meet (shared).
  llvm::SmallVector<int64_t> batch, window, shared;
  /// Dimensions of the updates: those of `batch` and of `window`, and the
  /// others, in the order of which updates are combined.
  llvm::SmallVector<int64_t> updatesBatch, updatesWindow, ordered;

  explicit UpdateShape(ScatterOp op);
  bool isWindowLast = false; ///< the result's last dimension is in `window`
};

/// The sizes of some dimensions of a value, and their product.
llvm::SmallVector<int64_t> sizesOf(mlir::Value value,
                                   llvm::ArrayRef<int64_t> dims);
int64_t countOf(mlir::Value value, llvm::ArrayRef<int64_t> dims);

/// The positions of a part, and the number of warps with work.
int64_t positionsOfPart(UpdatesAttr walk, ScatterOp op);
int64_t warpsOf(UpdatesAttr walk, ScatterOp op);

/// The reason why warps cannot walk so over the op's updates; or empty.
std::string refuseUpdates(UpdatesAttr walk, mlir::Operation *op,
                          const TargetLimits &limits);
/// The walk of an op with its own loops: #nest.updates for a scatter if warps
/// share a kernel, else #nest.own.
mlir::Attribute chooseOwn(mlir::Operation *op, const TargetLimits &limits);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_UPDATEWALK_H
