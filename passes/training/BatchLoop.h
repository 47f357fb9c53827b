//===- BatchLoop.h - a loop over microbatches -------------------*- C++ -*-===//
//
// Builds the loop that computes the divided ops of a step for the rows of one
// microbatch after the other:
//
//   %r = reshape %x : 32x784 to 8x4x784              before
//   %sum = weft.for 4 (%r, %w, %zero) {
//   ^bb0(%k, %rows, %v, %acc):
//     %b = dynamic_slice %rows at (0, %k, 0)         rows k, k+4, ...
//     %h = dot (reshape %b), %v
//     %s = reduce sum %h dims [0]
//     yield %rows, %v, add %acc, %s
//   }
//
// Values that no sample changes are computed before the loop and carried. Sums
// of 16 bits are added up in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_TRAINING_BATCHLOOP_H
#define WEFT_PASSES_TRAINING_BATCHLOOP_H

#include "weft/passes/training/BatchFlow.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace weft {

class BatchLoop {
public:
  BatchLoop(mlir::func::FuncOp function,
            const BatchFlow &flow [[clang::lifetimebound]], int64_t batch,
            int64_t rounds);
  /// Replaces the divided ops by the loop, and moves the later ops after it.
  void run();

private:
  using RowsKey = std::tuple<void *, unsigned, int64_t, int64_t>;

  // Values that the loop carries.
  mlir::Value carry(mlir::Value init);
  mlir::Value capture(mlir::Value value);
  void accumulate(mlir::Value value);
  void collect(mlir::Value value);
  void keep(mlir::Value value);
  void replaceOutside();
  void finish();

  // Values of one microbatch.
  mlir::Value whole(mlir::Value value);
  mlir::Value rowsOf(mlir::Value value, const BatchRows &at);
  mlir::Value computeRows(mlir::OpResult result, const BatchRows &at);
  mlir::Value slice(mlir::Value value, const BatchRows &at);
  mlir::Value summand(mlir::Value value, ReduceKind kind);
  mlir::Value estimate(mlir::Value value);
  mlir::Value masked(mlir::Value rows, const BatchRows &at, ReduceKind kind);
  /// tensor<i1>: whether the round has as many rows as any.
  mlir::Value isLong(mlir::Location loc);

  // Ops of one microbatch.
  void build(mlir::Operation &op);
  void buildRegions(mlir::Operation &op);
  mlir::BlockArgument buildRegion(mlir::Region &from, mlir::Region &into);
  void buildDivided(mlir::Operation &op, const OpDivision &division);
  void buildSum(mlir::Operation &op, const SummandPassing &passing);
  mlir::Value passOn(mlir::OpOperand &operand);
  mlir::Type localType(mlir::Value value) const;
  /// The type in which floats of 16 bits are added up.
  static mlir::RankedTensorType wideType(mlir::Type type);
  bool addsUpOnlyOutside(mlir::Operation &op) const;

  mlir::func::FuncOp function;
  const BatchFlow &flow;
  InterleavedRows rows; ///< rows of the current microbatch
  mlir::OpBuilder before, builder;
  mlir::Block *body;
  mlir::IRMapping local; ///< values of one microbatch
  llvm::SmallVector<mlir::Value> inits, yields;
  llvm::DenseMap<mlir::Value, mlir::Value> captured, estimates;
  std::map<RowsKey, mlir::Value> sliced, computed;
  /// Values that ops outside of the loop use, with the number of the carried
  /// value.
  llvm::MapVector<mlir::Value, unsigned> results;
};

} // namespace weft

#endif // WEFT_PASSES_TRAINING_BATCHLOOP_H
