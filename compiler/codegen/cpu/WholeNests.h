//===- WholeNests.h - loops of ops that are computed as a whole -*- C++ -*-===//
//
// Ops with the trait ComputedWhole have nests of their own, written here with
// what KernelEmitter.h offers:
//
//   %c = weft.cumulative sum %x dim 1     for i in 4
//                                           a = 0
//                                           for j in 8
//                                             a = a + x[i,j]; c[i,j] = a
//
// Operands are read by element, so that a transpose or broadcast in front of
// the op costs nothing; results are in memory that no operand has.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_WHOLENESTS_H
#define WEFT_COMPILER_CODEGEN_CPU_WHOLENESTS_H

#include "weft/compiler/codegen/cpu/KernelEmitter.h"

namespace weft {
class FftOp;
class FoldOp;
class GatherOp;
class OneHotOp;
class ScatterOp;
class SortOp;
} // namespace weft

namespace weft::cpu {

/// The nests of an op with the trait ComputedWhole.
llvm::LogicalResult emitWhole(KernelEmitter &emitter, mlir::Operation *op);

/// How such a nest can be shared: the dimensions, and their sizes, whose loops
/// do not depend on each other (openPartLoop opens them), and what there is to
/// do, in elements computed or read.
struct WholeLoops {
  llvm::SmallVector<std::pair<int64_t, int64_t>> independent;
  int64_t work = 0;
};
/// The dimension of a scatter's updates that is a whole dimension of its result;
/// -1 where none is, so that updates meet there.
int64_t updatesDimOf(ScatterOp op, int64_t dim);
WholeLoops loopsOfWhole(mlir::Operation *op);

/// Convolution and pooling; an error for another op.
llvm::LogicalResult emitWindows(KernelEmitter &emitter, mlir::Operation *op);
/// Factorisation and solving; an error for another op.
llvm::LogicalResult emitMatrices(KernelEmitter &emitter, mlir::Operation *op);
llvm::LogicalResult emitSort(KernelEmitter &emitter, SortOp op);
llvm::LogicalResult emitFold(KernelEmitter &emitter, FoldOp op);
llvm::LogicalResult emitFft(KernelEmitter &emitter, FftOp op);
llvm::LogicalResult emitScatter(KernelEmitter &emitter, ScatterOp op);

mlir::Value zeroOf(KernelEmitter &emitter, mlir::Type elementType);
mlir::Value emitProduct(KernelEmitter &emitter, mlir::Type elementType,
                        mlir::Value x, mlir::Value y);

/// Elements of ops that look positions up.
mlir::FailureOr<mlir::Value>
gatheredElement(KernelEmitter &emitter, GatherOp op, const ElementIndex &index);
mlir::FailureOr<mlir::Value> oneHotElement(KernelEmitter &emitter, OneHotOp op,
                                           const ElementIndex &index);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_WHOLENESTS_H
