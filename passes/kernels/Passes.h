//===- Passes.h - passes that cut a program into kernels --------*- C++ -*-===//

#ifndef WEFT_PASSES_KERNELS_PASSES_H
#define WEFT_PASSES_KERNELS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/passes/kernels/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#define GEN_PASS_REGISTRATION_GROUP WeftKernel
#include "weft/passes/kernels/Passes.h.inc"

} // namespace weft

#endif // WEFT_PASSES_KERNELS_PASSES_H
