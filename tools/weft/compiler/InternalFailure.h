//===- InternalFailure.h - when Weft itself is wrong ------------*- C++ -*-===//
//
//   weft: internal failure: model.json: the stage 'partitioned' cannot be
//   reached; its IR and pipeline are in
//   /tmp/weft-reproducer-5f1c09ab37d2e846.mlir: please report it
//
// A stage that a pass refuses with an error is the program's failure, status 1;
// a failed verifier is Weft's, status 70.
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

/// Writes the text to a new file of the folder, which only the user may read,
/// and removes the user's older reproducers there but for the last three.
/// Returns an error message, or sets `file`.
std::string writeReproducer(const std::string &folder, const std::string &text,
                            std::string &file);

/// Writes the reproducer of the stage after `reached` to the folder of
/// temporary files, prints the line above and ends the program.
[[noreturn]] void endInternally(const std::string &model,
                                mlir::ModuleOp imported, Stage reached);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_INTERNALFAILURE_H
