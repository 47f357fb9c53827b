//===- Ports.h - roles of arguments and results -----------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_PORTS_H
#define WEFT_DIALECTS_WEFT_PORTS_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// The attribute of a function whose arguments and results without annotation
/// have layouts of whole axes and full blocks. JAX has no arrays with padding,
/// and no sub-axes.
inline constexpr llvm::StringLiteral kFullPortsAttr = "weft.full_ports";

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_PORTS_H
