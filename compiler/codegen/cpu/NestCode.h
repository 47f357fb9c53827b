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

#include "weft/compiler/codegen/cpu/NestCode.h.inc"

namespace weft::cpu {

/// Gives Weft's ops their nests.
void registerNestCode(mlir::DialectRegistry &registry);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_NESTCODE_H
