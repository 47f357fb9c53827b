//===- StagedOps.h - which stage computes an op, and when -------*- C++ -*-===//
//
// In a loop over microbatches, with a dense layer on each coordinate of "stage":
//
//   %a = dot %x, %w0          stage 0, forward
//   %b = dot %a, %w1          stage 1, forward: the loss is computed from it
//   %d = dot %g, %w1          stage 1, backward: only variables are
//   %e = dot %d, %x           stage 0, backward
//   %i = add %k, 1            repeated: each pass has its own microbatch %k
//   %r = broadcast %table     repeated, too: %table is computed from constants
//
// The stage is the coordinate of the op's place (OpPlaces.h). Forward is what
// results are computed from that replace no variable.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_TRAINING_STAGEDOPS_H
#define WEFT_PASSES_TRAINING_STAGEDOPS_H

#include "weft/base/pipeline/Schedule.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/passes/sharding/propagation/OpPlaces.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// Operands, and values from outside that regions of the op read.
llvm::SetVector<mlir::Value> valuesReadBy(mlir::Operation *op);

class StagedOps {
public:
  /// `chunks` of the model for each stage.
  StagedOps(mlir::func::FuncOp function, ForOp loop, unsigned axis,
            int64_t stages, int64_t chunks);
  /// Finds the stages; fails, with an error, at an op that has none.
  llvm::LogicalResult run();

  /// Nothing for an op that is repeated in each pass.
  std::optional<int64_t> stageOf(mlir::Operation *op) const;
  /// The chunk of the model: what reads a later stage is of the next chunk, and
  /// backward, what reads an earlier stage is of the chunk before.
  int64_t chunkOf(mlir::Operation *op) const { return chunk.lookup(op); }
  /// Forward, or InputGradient if an earlier stage waits for the op, or
  /// WeightGradient.
  pipeline::WorkKind kindOf(mlir::Operation *op) const;
  /// Whether a stage before the last has backward passes.
  bool hasGradients() const { return isTrained; }

private:
  bool isRepeated(mlir::Operation *op) const;
  bool isAnywhere(mlir::Value value) const;
  std::optional<int64_t> findStage(mlir::Operation *op) const;
  void findForward();
  void findInputGradients();
  void findChunks();
  bool isSource(mlir::Operation *op,
                const llvm::SetVector<mlir::Operation *> &sources) const;
  int64_t chunkOfReaders(mlir::Operation *op) const;
  int64_t chunkBackward(mlir::Operation *op) const;
  /// Adds the ops of the loop that the op reads, and theirs.
  void addSources(mlir::Operation *op,
                  llvm::DenseSet<mlir::Operation *> &sources) const;

  mlir::func::FuncOp function;
  mutable ForOp loop;
  unsigned axis;
  int64_t stages, chunks;
  OpPlaces places;
  llvm::MapVector<mlir::Operation *, int64_t> stage; ///< in the loop's order
  llvm::DenseMap<mlir::Operation *, int64_t> chunk;
  mutable llvm::DenseMap<mlir::Value, bool> anywhere;
  llvm::DenseSet<mlir::Operation *> repeated, forward, awaited;
  bool isTrained = false;
};

} // namespace weft

#endif // WEFT_PASSES_TRAINING_STAGEDOPS_H
