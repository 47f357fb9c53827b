//===- Recomputation.h - how often a kernel computes a value ----*- C++ -*-===//
//
// A kernel stores its results and the results of ops with their own loops
// (reductions, contractions, sorts); every other value is computed where it is
// read, once for each position at which a loop nest reads it:
//
//   %0 = weft.exp %x                        : tensor<8xf32>
//   %1 = weft.reverse %0 dims [0]           : tensor<8xf32>
//   %2 = weft.concatenate %0, %1 dim 0      : tensor<16xf32>
//
// The nest of %2 reads %0 at two positions, so the code of one iteration has
// two exponentials. Each further concatenate of moved values would double them.
// Counting goes from the results back to the arguments. If a count exceeds
// kMostComputed, the group is cut after the value: one kernel stores it and the
// next kernel reads it. So a kernel has at most kMostComputed computations of
// each op that is not copied, and the counting takes time linear in the
// program. On a CPU the group is cut as well where the ops that compute one
// element, times the further positions in a nest, exceed kMostRecomputed: in a
// chain of such values, as an associative scan has, each doubles the work of
// the one before it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_KERNELS_RECOMPUTATION_H
#define WEFT_PASSES_KERNELS_RECOMPUTATION_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

/// The most positions at which a kernel computes a value.
inline constexpr unsigned kMostComputed = 8;

/// The most ops with which a nest of a CPU's kernel computes a value again.
inline constexpr int64_t kMostRecomputed = 48;

/// The members of a group after which it must be cut, last member first. `ops`
/// are the members and the ops that are copied for them, operands first.
/// `isMember` and `isResult` are called for ops of `ops`. Values are computed
/// again with `mostRecomputed` ops at most.
llvm::SmallVector<mlir::Operation *>
cutsAgainstRecomputation(llvm::ArrayRef<mlir::Operation *> ops,
                         llvm::function_ref<bool(mlir::Operation *)> isMember,
                         llvm::function_ref<bool(mlir::Operation *)> isResult,
                         int64_t mostRecomputed);

} // namespace weft

#endif // WEFT_PASSES_KERNELS_RECOMPUTATION_H
