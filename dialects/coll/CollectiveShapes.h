//===- CollectiveShapes.h - which shapes fit a collective -------*- C++ -*-===//
//
// Checks with the words of an op's attributes; see invalidReason in
// Communication.h for those of a plan. 7 rows over "x"=2 in blocks of 4:
//
//   checkBlocks(op, /*dim=*/0, /*large=*/7, /*small=*/4, /*group=*/2)  holds
//
// Each check emits an error of `op` if it fails.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_COLL_COLLECTIVESHAPES_H
#define WEFT_DIALECTS_COLL_COLLECTIVESHAPES_H

#include "weft/dialects/weft/Weft.h"

namespace weft::coll {

/// Checks that the dimension is in the rank.
llvm::LogicalResult checkDim(mlir::Operation *op, mlir::ShapedType type,
                             int64_t dim);
/// Checks that the rank, the element type and the sizes of other dimensions
/// stay the same.
llvm::LogicalResult checkOtherDims(mlir::Operation *op, mlir::ShapedType from,
                                   mlir::ShapedType to,
                                   llvm::ArrayRef<int64_t> changed);
/// Checks that the small size is ceil(large / group).
llvm::LogicalResult checkBlocks(mlir::Operation *op, int64_t dim, int64_t large,
                                int64_t small, int64_t group);
/// Checks that the divisor of the positions is positive and the modulus not
/// negative.
llvm::LogicalResult checkFetched(mlir::Operation *op, int64_t divisor,
                                 int64_t modulus);
/// Checks that the positions are i64 and have the shape of the picked elements.
llvm::LogicalResult checkPositions(mlir::Operation *op,
                                   mlir::ShapedType positions,
                                   mlir::ShapedType picked);
/// Checks that there is one source for each member: -1 or a member.
llvm::LogicalResult checkSenders(mlir::Operation *op,
                                 llvm::ArrayRef<int64_t> sources,
                                 int64_t members);
/// Checks that `from` and `to` have the local shapes of the two layouts, which
/// are not partial.
llvm::LogicalResult checkMove(mlir::Operation *op, mlir::ShapedType from,
                              mlir::ShapedType to,
                              llvm::ArrayRef<int64_t> shape,
                              LayoutAttr fromLayout, LayoutAttr toLayout);

} // namespace weft::coll

#endif // WEFT_DIALECTS_COLL_COLLECTIVESHAPES_H
