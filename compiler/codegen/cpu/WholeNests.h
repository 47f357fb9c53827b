//===- WholeNests.h - loops of ops that are computed as a whole -*- C++ -*-===//
//
// Ops with the trait OwnLoopNest have nests of their own, written here with
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
class ScatterOp;
class SortOp;
} // namespace weft

namespace weft::cpu {

/// The nests of an op with the trait OwnLoopNest.
llvm::LogicalResult emitWhole(KernelEmitter &kernel, mlir::Operation *op);

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
llvm::LogicalResult emitWindows(KernelEmitter &kernel, mlir::Operation *op);
/// Factorisation and solving; an error for another op.
llvm::LogicalResult emitMatrices(elements::ElementEmitter &emitter,
                                 mlir::Operation *op);
llvm::LogicalResult emitSort(elements::ElementEmitter &emitter, SortOp op);
llvm::LogicalResult emitFold(elements::ElementEmitter &emitter, FoldOp op);
llvm::LogicalResult emitFft(elements::ElementEmitter &emitter, FftOp op);
llvm::LogicalResult emitScatter(elements::ElementEmitter &emitter,
                                ScatterOp op);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_WHOLENESTS_H
