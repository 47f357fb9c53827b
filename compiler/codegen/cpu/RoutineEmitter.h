//===- RoutineEmitter.h - instructions as one function ----------*- C++ -*-===//
//
//   plan.routine @loop_add {              define void @loop_add(buffers, ...) {
//   ^bb0(%x: memref<f32>):                  %x = load ptr, buffers
//     %more = plan.local : memref<i1>  =>   %more = alloca i8
//     plan.label "loop 0"                   br loop0
//     plan.launch @less(%x, %more)        loop0:
//     plan.jump_unless %more "end 1"        call @less([%x, %more])
//     ...                                   ... cond_br end1
//
// The routine's kernels are functions of the same LLVM module, so that LLVM
// inlines small ones and keeps the numbers in `%more` in a register.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_ROUTINEEMITTER_H
#define WEFT_COMPILER_CODEGEN_CPU_ROUTINEEMITTER_H

#include "weft/dialects/plan/Plan.h"

#include <string>

namespace weft::cpu {

/// The text of a module with the routine and its kernels, which are named
/// ROUTINE.KERNEL.
std::string textOf(plan::RoutineOp routine);

/// Replaces the routine by a weft_kernel_fn of its name. KernelEmitter has
/// emitted its kernels into the module; they become internal functions.
llvm::LogicalResult emitRoutine(plan::RoutineOp routine);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_ROUTINEEMITTER_H
