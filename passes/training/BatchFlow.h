//===- BatchFlow.h - how a batch flows through a step -----------*- C++ -*-===//
//
//   %h = dot %x, %w           rows         in each microbatch
//   %l = reduce sum %h        a summand    in each microbatch, added up
//   %m = div %l, %n           later        after the last one
//   %d = broadcast %one       whole        before; of it, a microbatch computes
//                                          the rows that it needs
//
// A value that is reduced over all samples may be needed again by each sample:
// the sum of weights in a loss. If it depends on no weight of the model, it is
// computed before the first microbatch, from the whole batch. If it does (the
// mean of batch normalization), the microbatches do not have it: an error, or,
// if statistics of microbatches are allowed, an estimate by the microbatch.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_TRAINING_BATCHFLOW_H
#define WEFT_PASSES_TRAINING_BATCHFLOW_H

#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/training/BatchDivision.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

struct BatchFlowOptions {
  int64_t batch = 0, rounds = 1;
  bool allowStatistics = false;
};

class BatchFlow {
public:
  BatchFlow(mlir::func::FuncOp function, BatchFlowOptions options);
  /// Finds the part of each value; fails, with an error, if an op needs values
  /// that microbatches do not have.
  llvm::LogicalResult run();

  BatchPart part(mlir::Value value) const;
  /// Whether each microbatch computes the op.
  bool isDivided(mlir::Operation *op) const { return divided.contains(op); }
  /// Whether the op is computed after the last microbatch.
  bool isLater(mlir::Operation *op) const { return laterOps.contains(op); }
  /// Whether a value that is reduced over rows is computed before.
  bool isAhead(mlir::Value value) const { return ahead.contains(value); }
  /// Whether a microbatch has an own estimate of a value that is reduced over
  /// the batch, and the value is no gradient and no loss.
  bool isOwn(mlir::Value value) const;
  /// The part of an operand of an op on sums of gradients.
  BatchPart partBesideLoss(mlir::Value value) const;
  const RegionFlow &regions() const { return flow; }
  bool isBatch(mlir::Value value) const;

private:
  llvm::LogicalResult visit(mlir::Block &block);
  llvm::LogicalResult visitRegions(mlir::Operation *op);
  llvm::LogicalResult visitOp(mlir::Operation *op);
  llvm::LogicalResult divide(mlir::Operation *op);
  llvm::LogicalResult passOrWait(mlir::Operation *op);
  llvm::LogicalResult passWithOwn(mlir::Operation *op);
  void passEarly(mlir::Value value);
  llvm::LogicalResult wait(mlir::Operation *op);
  llvm::LogicalResult join(mlir::Value value, const BatchPart &part,
                           mlir::Operation *where);
  llvm::LogicalResult takeRows(mlir::Value value, const BatchRows &rows,
                               mlir::Operation *user);
  /// Makes a value that is reduced over the batch available to an op on rows.
  llvm::LogicalResult provide(mlir::Value value, mlir::Operation *user);
  llvm::LogicalResult refuse(mlir::Value source, mlir::Operation *user) const;
  bool canEstimate(mlir::Value source) const;
  void findWeights();
  /// Adds the results of ops on rows from which a later value is computed.
  void addSources(mlir::Value value,
                  llvm::SetVector<mlir::Value> &sources) const;
  void set(mlir::Value value, const BatchPart &part);
  bool isNested(mlir::Operation *op) const;

  mutable mlir::func::FuncOp function;
  BatchFlowOptions options;
  RegionFlow flow;
  llvm::DenseMap<mlir::Value, BatchPart> parts;
  llvm::DenseSet<mlir::Operation *> divided, laterOps;
  llvm::DenseSet<mlir::Value> ahead; ///< computed before, from the whole batch
  llvm::DenseSet<mlir::Value> estimated; ///< estimated in each microbatch
  llvm::DenseSet<mlir::Value> onWeights, onLoss;
  llvm::DenseSet<mlir::Operation *> early; ///< linear ops on summands
  bool isUnlabelled = false; ///< whether gradients look like statistics
  bool isChanged = false;
  bool isRestarted = false; ///< whether one of the sets has grown
};

} // namespace weft

#endif // WEFT_PASSES_TRAINING_BATCHFLOW_H
