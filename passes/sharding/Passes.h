//===- Passes.h - from one global program to one for each device ----------===//

#ifndef WEFT_PASSES_SHARDING_PASSES_H
#define WEFT_PASSES_SHARDING_PASSES_H

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "weft/passes/sharding/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_SHARDING_PASSES_H
