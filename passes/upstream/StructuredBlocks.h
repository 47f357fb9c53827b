//===- StructuredBlocks.h - loop nests on one device's block ----*- C++ -*-===//
//
// A structured op on local shapes differs from the global op in two ways.
// Positions (linalg.index) are global, so the block's start is added to them.
// Iterations in padding must not count: of 7 summands over 2 devices the second
// device has 3 in a block of 4, and in its last iteration a reduction keeps the
// accumulator,
//
//   %i = linalg.index 1
//   %valid = arith.cmpi slt, %i, %extent        7, and 3 on the second device
//   %kept = arith.select %valid, %sum, %acc
//
// so that neither 0*NaN nor exp(0) counts. A body that is undefined for some
// values (an integer division) is skipped in padding, by scf.if.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_UPSTREAM_STRUCTUREDBLOCKS_H
#define WEFT_PASSES_UPSTREAM_STRUCTUREDBLOCKS_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace weft {

/// Builds the op on local operands. `rule` is that of `op`; its first factors
/// are the op's loops.
llvm::SmallVector<mlir::Value>
buildStructuredBlock(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                     const ShardingRule &rule, mlir::ValueRange operands,
                     mlir::TypeRange resultTypes,
                     const LocalPlacement &placement);

/// Builds an elementwise op as a loop nest over its tensor operands.
mlir::linalg::GenericOp elementwiseLoops(mlir::OpBuilder &builder,
                                         mlir::Operation *op,
                                         mlir::ValueRange operands,
                                         mlir::TypeRange resultTypes);

/// Skips iterations of a local loop nest in the padding of uneven loops, if the
/// body must not run there or its value must not be combined.
void guardPadding(mlir::linalg::GenericOp loops, const ShardingRule &rule,
                  const LocalPlacement &placement);

/// Fills the padding of a factor's dimension `dim` with the neutral element of
/// its reduction.
mlir::Value maskedBlock(mlir::OpBuilder &builder, mlir::Value block,
                        unsigned dim, const ShardingRule &rule, unsigned factor,
                        const LocalPlacement &placement);

/// Whether one of the first `loops` factors has padding on some device.
bool hasPadding(const ShardingRule &rule, unsigned loops,
                const LocalPlacement &placement);
/// Whether all ops in the body are defined for any operand and have no memory
/// effects.
bool isHarmless(mlir::Block &body);

} // namespace weft

#endif // WEFT_PASSES_UPSTREAM_STRUCTUREDBLOCKS_H
