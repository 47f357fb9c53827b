//===- Passes.h - products of blocks that travel ----------------*- C++ -*-===//

#ifndef WEFT_PASSES_RINGS_PASSES_H
#define WEFT_PASSES_RINGS_PASSES_H

#include "weft/dialects/coll/Coll.h"

#include "mlir/Pass/Pass.h"

namespace weft {

/// The attribute of a module that says whether products are computed block by
/// block while the blocks travel: "auto" (the default), "on" or "off".
inline constexpr llvm::StringLiteral kRingsAttr = "weft.rings";

#define GEN_PASS_DECL
#include "weft/passes/rings/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "weft/passes/rings/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_RINGS_PASSES_H
