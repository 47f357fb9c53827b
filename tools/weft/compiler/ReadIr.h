//===- ReadIr.h - Weft's own text -------------------------------*- C++ -*-===//
//
//   tp.mlir:12:8: is no valid IR: ...; write it as weft compile --emit prints it
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_READIR_H
#define WEFT_TOOLS_WEFT_COMPILER_READIR_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace weft::tool {

/// Parses IR; prints the first error with a fix.
mlir::OwningOpRef<mlir::ModuleOp> parseIr(const std::string &text,
                                          const std::string &file,
                                          mlir::MLIRContext &context);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_READIR_H
