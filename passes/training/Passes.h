//===- Passes.h - passes on training steps ----------------------*- C++ -*-===//

#ifndef WEFT_PASSES_TRAINING_PASSES_H
#define WEFT_PASSES_TRAINING_PASSES_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "weft/passes/training/Passes.h.inc"

} // namespace weft

#endif // WEFT_PASSES_TRAINING_PASSES_H
