//===- LibraryCall.h - kernels that a library computes ----------*- C++ -*-===//
//
//   %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, ...
//   %1 = weft.relu %0
//
//   libraryCallOf({{dot, relu}, {%x, %w}, {%1}}, limits, MatmulPrecision::F32)->call
//     = #plan.contraction<rows[64, 128, 0, 64], ..., epilogue relu, compute full>
//
// Grouping uses it for ops in a function, and ChooseLibraries for the kernels
// that they become, so both give contractions the same epilogues.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_KERNELS_LIBRARYCALL_H
#define WEFT_PASSES_KERNELS_LIBRARYCALL_H

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/plan/Plan.h"

namespace weft {

/// The ops of a kernel, operands before their users, the values that they read
/// from memory, and those that the kernel stores.
struct KernelValues {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<mlir::Value> inputs, results;
};

struct LibraryCall {
  plan::ContractionAttr call;
  mlir::Operation *contraction;
  mlir::Value lhs, rhs; ///< what is in memory; may be one value
  mlir::Value bias;     ///< null without a bias in the epilogue
  int64_t multiplyAdds, calls;
};

/// The library call that computes the kernel: one contraction of inputs, with
/// an epilogue of LibraryEpilogues.h. Nothing if no library does, or if the
/// contraction is so small that a launch takes longer. `precision` is for
/// contractions that state no precision.
std::optional<LibraryCall> libraryCallOf(const KernelValues &kernel,
                                         const nest::TargetLimits &limits,
                                         nest::MatmulPrecision precision);

} // namespace weft

#endif // WEFT_PASSES_KERNELS_LIBRARYCALL_H
