//===- InternalFailure.h - when Weft itself is wrong ------------*- C++ -*-===//
//
//   weft: internal failure: model.json: the stage 'partitioned' cannot be
//   reached; its IR and pipeline are in /tmp/weft-reproducer-4711.mlir: please
//   report it
//
// Errors in a model or a file are found before the stages begin; a later
// failure is not the user's. Exit status 70.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_INTERNALFAILURE_H
#define WEFT_TOOLS_WEFT_COMPILER_INTERNALFAILURE_H

#include "weft/compiler/stages/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace weft::tool {

/// The imported module as text, with the command that continues from it as a
/// comment.
std::string reproducer(mlir::ModuleOp imported, Stage failed);

/// Writes the reproducer of the stage after `reached` to the folder of
/// temporary files, prints the line above and ends the program.
[[noreturn]] void endInternally(const std::string &model,
                                mlir::ModuleOp imported, Stage reached);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_INTERNALFAILURE_H
