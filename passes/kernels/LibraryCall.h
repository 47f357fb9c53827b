//===- LibraryCall.h - kernels that a library computes ----------*- C++ -*-===//
//
//   %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, ...
//   %1 = weft.relu %0
//
//   libraryCallOf({{dot, relu}, {%x, %w}, {%1}}, nest::MatmulPrecision::F32)->call
//     = #plan.contraction<rows[64, 128, 0, 64], ..., epilogue relu, compute full>
//
// Grouping asks it of ops that stand in a function, and ChooseLibraries of the
// kernels that they became: both give contractions the same epilogues.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_KERNELS_LIBRARYCALL_H
#define WEFT_PASSES_KERNELS_LIBRARYCALL_H

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/plan/Plan.h"

namespace weft {

/// The ops of a kernel in program order, the values that they read from memory,
/// and those that the kernel stores.
struct KernelValues {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<mlir::Value> inputs, results;
};

struct LibraryCall {
  plan::ContractionAttr call;
  mlir::Value lhs, rhs;
  mlir::Value bias; ///< null where the epilogue has none
};

/// How a library computes the kernel: one contraction of two inputs, with an
/// epilogue of LibraryEpilogues.h. Nothing where no library does, or where the
/// contraction is so small that a launch takes longer. `precision` holds for
/// contractions that do not say how exact they are.
std::optional<LibraryCall> libraryCallOf(const KernelValues &kernel,
                                         nest::MatmulPrecision precision);

} // namespace weft

#endif // WEFT_PASSES_KERNELS_LIBRARYCALL_H
