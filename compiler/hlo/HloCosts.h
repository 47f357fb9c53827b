//===- HloCosts.h - operations of a device's program ------------*- C++ -*-===//
//
// The counts of JAX's compiled.cost_analysis(), by XLA's rules:
//
//   %c = weft.dot %a, %b : 8x16 times 16x4      1024 flops: 2 * 8 * 16 * 4
//   %d = weft.add %c, %c                          32
//   %e = weft.exp %d                              32 transcendentals
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_HLO_HLOCOSTS_H
#define WEFT_COMPILER_HLO_HLOCOSTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

struct HloCosts {
  double flops = 0;           ///< a multiply-add counts as two
  double transcendentals = 0; ///< exponentials, logarithms and the like
};

/// Counts the ops of a partitioned program, with loops once.
HloCosts hloCosts(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_HLO_HLOCOSTS_H
