//===- Passes.h - passes over collectives ---------------------------------===//

#ifndef WEFT_PASSES_COLLECTIVES_PASSES_H
#define WEFT_PASSES_COLLECTIVES_PASSES_H

#include "weft/dialects/coll/Coll.h"

#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "weft/passes/collectives/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "weft/passes/collectives/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_COLLECTIVES_PASSES_H
