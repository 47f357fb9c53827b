//===- NestCode.h - ops with a loop nest of their own -----------*- C++ -*-===//
//
// Ops with the trait OwnLoopNest have nests of their own, written with what
// ElementEmitter.h offers:
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

#ifndef WEFT_COMPILER_CODEGEN_CPU_NESTCODE_H
#define WEFT_COMPILER_CODEGEN_CPU_NESTCODE_H

#include "weft/compiler/codegen/cpu/KernelEmitter.h"

#include "mlir/IR/DialectRegistry.h"

namespace weft::cpu {

/// How such a nest can be shared: the dimensions, and their sizes, whose loops
/// do not depend on each other (openPartLoop opens them), and what there is to
/// do, in elements computed or read.
struct OwnLoops {
  llvm::SmallVector<std::pair<int64_t, int64_t>> independent;
  int64_t work = 0;
};

} // namespace weft::cpu

#include "weft/compiler/codegen/cpu/NestCode.h.inc"

namespace weft::cpu {

/// Gives Weft's ops their nests.
void registerNestCode(mlir::DialectRegistry &registry);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_NESTCODE_H
