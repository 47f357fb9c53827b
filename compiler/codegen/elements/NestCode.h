//===- NestCode.h - ops with separate loop nests ----------------*- C++ -*-===//
//
// Ops with the trait OwnLoopNest have their own nests, written with
// ElementEmitter.h:
//
//   %c = weft.cumulative sum %x dim 1     for i in 4      openSharedLoop(0, 4)
//                                           a = 0
//                                           for j in 8    openLoop(8)
//                                             a = a + x[i,j]; c[i,j] = a
//
// Operands are read by element, so that a transpose or broadcast before the op
// costs nothing; results share no memory with operands. Loops over dimensions
// that OpLoopsInterface calls independent are opened by openSharedLoop: workers
// share one such loop, and threads of a GPU share all.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_NESTCODE_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_NESTCODE_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"

#include "weft/compiler/codegen/elements/NestCode.h.inc"

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_NESTCODE_H
