//===- Passes.h - the pass that chooses loop nests --------------*- C++ -*-===//

#ifndef WEFT_PASSES_NESTS_PASSES_H
#define WEFT_PASSES_NESTS_PASSES_H

#include "weft/dialects/nest/Nest.h"

#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "weft/passes/nests/Passes.h.inc"

} // namespace weft

#endif // WEFT_PASSES_NESTS_PASSES_H
