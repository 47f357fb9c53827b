//===- AttentionBody.h - softmax between two products -----------*- C++ -*-===//
//
//   %g = coll.all_gather %k ...              keys: gathered, light ops
//   %s = weft.dot %q, %g ...                 scores, light ops
//   %m = weft.reduce max %s dims [1]         the shift, light ops of rows
//   %e = weft.exp (%s - broadcast %m)
//   %l = weft.reduce sum %e dims [1]
//   %p = %e / broadcast %l                   light ops that are linear in %e
//   %h = coll.all_gather %v ...              values, light ops
//   %o = weft.dot %p, %h ...
//
// A softmax does not depend on what is subtracted, so that a row may subtract
// the greatest score of the blocks that it has seen, and scale what it has added
// up when a greater one comes: Milakov and Gimelshein, "Online normalizer
// calculation for softmax", 2018, and Liu, Zaharia and Abbeel, "Ring attention
// with blockwise transformers", 2023. No device holds all scores of a row.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_RINGS_ATTENTIONBODY_H
#define WEFT_PASSES_RINGS_ATTENTIONBODY_H

#include "weft/passes/rings/RingBody.h"

namespace weft {

struct AttentionBody {
  coll::AllGatherOp keys, values;
  RingBody scores; ///< the last op computes the scores
  int scoreDim;    ///< the dimension along which the scores have blocks
  mlir::Operation *maximum; ///< of each row
  /// From the maximum to what is subtracted, without the dimension.
  llvm::SmallVector<mlir::Operation *> shift;
  mlir::Operation *shiftBroadcast, *difference, *exponentials;
  mlir::Operation *sum; ///< of the exponentials of each row
  /// The division by the sum, and the sum in its shape.
  mlir::Operation *division, *sumBroadcast;
  /// From the exponentials and the gathered values to the product, without the
  /// division.
  RingBody weighted;
  /// The dimension of the result that each dimension of the rows is.
  llvm::SmallVector<int64_t> rowDims;
  mlir::Operation *place;

  mlir::Value score() const { return scores.ops.back().op->getResult(0); }
  mlir::Value result() const { return weighted.ops.back().op->getResult(0); }
  llvm::SetVector<mlir::Value> outsideValues() const;
};

/// The attention whose keys are gathered. Nothing if the ops after the gather are
/// not as above, or if others use what they compute, as derivatives do.
std::optional<AttentionBody> attentionOf(coll::AllGatherOp keys);

/// Builds it block by block in place of its ops, and of both gathers.
void buildAttentionRing(const AttentionBody &body, RemovedOps &removed);

} // namespace weft

#endif // WEFT_PASSES_RINGS_ATTENTIONBODY_H
