//===- UnknownDialect.h - messages of dialects that are not read -*- C++ -*-===//
//
//   prog.mlir:2:8: "mhlo" is a dialect that weft does not read; ...
//
// replaces MLIR's own message, which names flags that weft does not have.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_UNKNOWNDIALECT_H
#define WEFT_TOOLS_WEFT_COMPILER_UNKNOWNDIALECT_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace weft::tool {

/// The text of a diagnostic; that of an unknown dialect names it, from the
/// message or from the file of the diagnostic's location, and says what to do.
std::string textOf(const mlir::Diagnostic &diagnostic);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_UNKNOWNDIALECT_H
