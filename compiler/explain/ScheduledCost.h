//===- ScheduledCost.h - costs of a step without its kernels ----*- C++ -*-===//
//
// At stage `scheduled` all collectives and local shapes are known:
//
//   %1 = weft.dot %x, %w : tensor<8x4xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
//   %2 = coll.all_reduce sum %1 over #mesh ["model"] : tensor<8x2xf32>
//
// sends the bytes that its plan will send, as later passes neither add nor
// remove collectives unless the memory of a device is limited. So fixes are
// compared without making kernels. Memory counts arguments, results, and
// the values between them that kernels probably store. This estimate serves to
// compare layouts and is not printed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_SCHEDULEDCOST_H
#define WEFT_COMPILER_EXPLAIN_SCHEDULEDCOST_H

#include "weft/compiler/explain/Explain.h"

namespace weft {

/// The costs of the public function of a module at stage `scheduled`; nothing
/// unless there is exactly one such function.
std::optional<Explanation> explainScheduled(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_SCHEDULEDCOST_H
