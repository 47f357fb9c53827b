//===- Ring.h - blocks that travel around a group of devices ----*- C++ -*-===//
//
// Device k of four computes with its own block, then with those of k + 1 and
// k - 1, then with that of k + 2:
//
//   %up, %down = blocks of both neighbours, on their way
//   %r = the product of the own block
//   %far = the block that follows %up, on its way
//   %r = the products of %up and %down
//   %r = the product of %far
//
// Between the first and the last blocks is a loop, so that a ring of 64 devices
// has as many ops as one of 8.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_RINGS_RING_H
#define WEFT_PASSES_RINGS_RING_H

#include "weft/dialects/weft/Tensor.h"
#include "weft/passes/rings/RingBody.h"

#include "mlir/IR/IRMapping.h"

namespace weft {

/// How often blocks move: `pairs` times from both sides, and once more from one
/// side if the number of devices is even.
struct RingSteps {
  int64_t devices, pairs;
  bool hasLast;
  explicit RingSteps(int64_t devices)
      : devices(devices), pairs((devices - 1) / 2), hasLast(devices % 2 == 0) {}
};

/// Builds what all rings need.
class Ring {
protected:
  /// The values from outside, as the ops of a loop's body name them.
  using Names = mlir::IRMapping;
  using Values = llvm::SmallVector<mlir::Value>;
  using Round = llvm::function_ref<Values(mlir::OpBuilder &, const Names &,
                                          mlir::ValueRange)>;

  using Visit = llvm::function_ref<Values(
      mlir::OpBuilder &, const Names &, mlir::ValueRange blocks,
      mlir::Value position, mlir::ValueRange results)>;

  /// Blocks of this size travel among the group of a collective.
  Ring(mlir::Location loc, LayoutAttr group, int64_t size);
  /// The blocks that a collective gathers.
  explicit Ring(coll::AllGatherOp gather)
      : Ring(gather.getLoc(), gather.getGroup(),
             gather.getInput().getType().getDimSize(gather.getDim())) {}

  formulas::Tensor tensor(mlir::OpBuilder &b, mlir::Value value) const {
    return {b, loc, value};
  }
  /// Builds where the device's own block starts, in front of the ring.
  void startAt(mlir::OpBuilder &b);
  /// Where the block of the device at this distance starts.
  mlir::Value positionAt(mlir::OpBuilder &b, int64_t distance) const;
  /// Where the next block starts, in one direction or the other.
  mlir::Value moveOn(mlir::OpBuilder &b, mlir::Value position,
                     int direction) const;
  /// The block of the next device in one direction, for a collective's reason.
  mlir::Value receive(mlir::OpBuilder &b, mlir::Value block, int direction,
                      mlir::StringAttr reason) const;
  /// The array with a block in its place along a dimension.
  mlir::Value place(mlir::OpBuilder &b, mlir::Value array, mlir::Value block,
                    int dim, mlir::Value position) const;
  /// Builds ops on one block. `values` has the blocks that they read and gets
  /// those that they compute; of values from outside they read the block at
  /// the position. Sums of blocks are f32 for shorter floats.
  void compute(mlir::OpBuilder &b, const Names &names,
               llvm::ArrayRef<BlockedOp> ops, mlir::Value position,
               mlir::IRMapping &values) const;
  /// Visits the blocks that the collectives gather, the own ones first, while the
  /// next ones are on their way. `visit` returns results, which the next visit
  /// gets; the first gets none.
  Values visitAll(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Operation *> gathers,
                  mlir::ValueRange outside, Visit visit) const;
  /// Does a round several times: a loop, or the ops of one round.
  Values repeat(mlir::OpBuilder &b, int64_t rounds, mlir::ValueRange carried,
                mlir::ValueRange outside, Round round) const;

  /// Replaces a result, whose element type may have been shorter.
  void replaceResult(mlir::OpBuilder &b, mlir::Value old,
                     mlir::Value made) const;
  LayoutAttr group;
  mlir::Location loc;
  int64_t devices, size;
  RingSteps steps;
  mlir::Value ownStart; ///< tensor<i64>

private:
  Values starts(mlir::OpBuilder &b, mlir::Value array, int dim,
                mlir::Value position) const;
};

/// The reason of a collective, for its parts.
mlir::StringAttr reasonOf(mlir::Operation *collective);
/// The element type in which blocks are added up: f32 for shorter floats.
mlir::Type elementOfSum(mlir::Type element);
/// The type with another size of one dimension.
mlir::RankedTensorType withSize(mlir::Type type, int dim, int64_t size);

} // namespace weft

#endif // WEFT_PASSES_RINGS_RING_H
