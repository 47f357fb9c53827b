//===- Ports.h - what a function's arguments and results are ----*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_PORTS_H
#define WEFT_DIALECTS_WEFT_PORTS_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// On a function: arguments and results that are not annotated lie over whole
/// axes and in full blocks. JAX has no arrays with padding, nor parts of axes.
inline constexpr llvm::StringLiteral kFullPortsAttr = "weft.full_ports";

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_PORTS_H
