//===- LibraryEpilogues.h - epilogues that libraries compute ----*- C++ -*-===//
//
//   %0 = weft.dot %x, %w ...
//   %1 = weft.broadcast %b dims [1]
//   %2 = weft.add %0, %1
//   %3 = weft.relu %2                  epilogueOf(%3, %0, %b) = bias_relu
//
// Each epilogue is defined by equivalent ops; a kernel has the epilogue if its
// ops are these.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_KERNELS_LIBRARYEPILOGUES_H
#define WEFT_PASSES_KERNELS_LIBRARYEPILOGUES_H

#include "weft/dialects/plan/Plan.h"

namespace weft {

/// The library's epilogue that computes `result` from `sums` and `bias` (may be
/// null; the result may then be rounded to another type); nothing if no library
/// has it.
std::optional<plan::Epilogue> epilogueOf(mlir::Value result, mlir::Value sums,
                                         mlir::Value bias);

} // namespace weft

#endif // WEFT_PASSES_KERNELS_LIBRARYEPILOGUES_H
