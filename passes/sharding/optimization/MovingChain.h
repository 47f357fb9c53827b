//===- MovingChain.h - ops that only move elements, composed ----*- C++ -*-===//
//
//   %a = weft.slice %x [6:8]     ; %b = weft.concatenate %a, %x
//
// A chain begins as one op, its end, and grows towards operands. That of %b has
// the ops concatenate and slice, the operand %x and the boxes
//
//   [0:2] of %x at [d0 + 6], [2:10] of %x at [d0]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_OPTIMIZATION_MOVINGCHAIN_H
#define WEFT_PASSES_SHARDING_OPTIMIZATION_MOVINGCHAIN_H

#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "llvm/ADT/SetVector.h"

#include <optional>

namespace weft {

struct MovingChain {
  llvm::SmallVector<mlir::Value> operands;
  MovedBoxes boxes;
  llvm::SetVector<mlir::Operation *> ops; ///< the end first

  MovingChain(mlir::Operation *end, MovedBoxes its);
  /// The chain with the op of an operand, whose boxes are `inner`; nothing if it
  /// would have no boxes, or more than a device should look at.
  std::optional<MovingChain> with(unsigned operand,
                                  const MovedBoxes &inner) const;
  mlir::Value end() const { return ops.front()->getResult(0); }
  /// Builds a move of the operands to the type; `body` builds its region's
  /// result on other operands.
  MoveOp
  buildMove(mlir::OpBuilder &builder, mlir::RankedTensorType type,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>
                body) const;
  /// Builds the ops on other operands, without layouts: the chain's result. What
  /// they read and no box has is 0.
  mlir::Value buildOps(mlir::OpBuilder &builder, mlir::ValueRange from) const;

private:
  /// Removes operands that no box has, and operands that are there twice.
  void tidy();
  /// Dimensions of operands that stay at one position in a box follow the
  /// result's dimension that they follow in others.
  void repeatAlongResult();
};

/// The boxes of an op that only moves elements.
std::optional<MovedBoxes> boxesOfOp(mlir::Operation *op);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_OPTIMIZATION_MOVINGCHAIN_H
