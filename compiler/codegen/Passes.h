//===- Passes.h - code generators on the command line -----------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_PASSES_H
#define WEFT_COMPILER_CODEGEN_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/compiler/codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/compiler/codegen/Passes.h.inc"

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_PASSES_H
