//===- RingBody.h - ops that compute one block after the other --*- C++ -*-===//
//
// Keys that are gathered, scaled and multiplied:
//
//   %g = coll.all_gather %k dim 0 ... : tensor<16x32xf32> -> tensor<64x32xf32>
//   %h = weft.mul %g, %scale : tensor<64x32xf32>
//   %s = weft.dot %q, %h contract [1] x [1]
//          : tensor<16x32xf32>, tensor<64x32xf32> -> tensor<16x64xf32>
//
// The body of %g is {%h, %s}: a block of 16 rows of %g, with 16 rows of %scale,
// gives 16 rows of %h, and these give 16 columns of %s. The sharding rules of
// the ops say so, as if a block were a shard.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_RINGS_RINGBODY_H
#define WEFT_PASSES_RINGS_RINGBODY_H

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/SetVector.h"

#include <optional>

namespace weft {

/// An op of which one block at a time is computed.
struct BlockedOp {
  mlir::Operation *op;
  /// For each operand the dimension along which it has blocks, or -1.
  llvm::SmallVector<int, 3> operandDims;
  /// The dimension of the result along which it has blocks; -1 where the
  /// results of all blocks are added up.
  int resultDim = -1;
  /// Whether other ops than those of the body use the result.
  bool isResult = false;
};

struct RingBody {
  /// In the order of the block of IR.
  llvm::SmallVector<BlockedOp, 2> ops;
  /// The op in front of which the ring is built.
  mlir::Operation *place = nullptr;

  /// The values from outside that the ops read, each once, without the one
  /// whose blocks move (null if none does).
  llvm::SetVector<mlir::Value> outsideValues(mlir::Value moved) const;
};

/// Ops that were taken out of a function. They keep their addresses, by which
/// EqualValues knows their results, as long as this lives.
class RemovedOps {
public:
  RemovedOps() = default;
  RemovedOps(const RemovedOps &) = delete;
  RemovedOps &operator=(const RemovedOps &) = delete;
  ~RemovedOps();
  void take(mlir::Operation *op);
  /// Takes those that nothing uses any more.
  void takeUnused(llvm::ArrayRef<BlockedOp> ops);

private:
  llvm::SmallVector<mlir::Operation *> removed;
};

/// An op whose operand `number` has blocks along a dimension, as the sharding rule
/// tells. Nothing if blocks of operands do not give blocks, or summands, of the
/// only result.
std::optional<BlockedOp> blockedBy(mlir::Operation *op, unsigned number,
                                   int dim);
/// Likewise, if the result has blocks along a dimension.
std::optional<BlockedOp> blockedFor(mlir::Operation *op, int dim);
/// Whether the op does most of the work: a sum over products of two operands.
bool isProduct(mlir::Operation *op);
/// Adds in front of a body the ops that generate what it would read blocks of, as
/// the positions of a mask: they are computed for each block. `moved` are values
/// whose blocks arrive.
void addGenerated(RingBody &body, llvm::ArrayRef<mlir::Value> moved);

/// The ops that use a gathered value, up to the products. Nothing if one of
/// them needs more than a block, or is no product and has other users, or if
/// their operands and users allow no common place.
std::optional<RingBody> bodyOfGather(coll::AllGatherOp gather);
/// The ops that compute a value that is reduced and scattered, from the product
/// on. Nothing if another op uses what they compute.
std::optional<RingBody> bodyOfScatter(coll::ReduceScatterOp scatter);

} // namespace weft

#endif // WEFT_PASSES_RINGS_RINGBODY_H
