//===- AnnotationFixes.h - cheaper annotations of a program -----*- C++ -*-===//
//
//   all_reduce   model   480   y
//     fix  change the layout of "w" from [{"model"}, {}] to [{}, {}]: a step
//          sends 0 bytes instead of 480
//
// Each change (AnnotationChanges.h) is tried: the program is compiled to its
// plan with it, and its bytes are counted.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_DRIVER_ANNOTATIONFIXES_H
#define WEFT_COMPILER_DRIVER_ANNOTATIONFIXES_H

#include "weft/compiler/driver/CompileStep.h"
#include "weft/compiler/explain/Explain.h"

namespace weft {

/// Fills the `fix` of the collectives of a program whose layouts are in its own
/// text. `imported` is the module that it was made of, at stage `imported`.
void findAnnotationFixes(Explanation &explanation, mlir::ModuleOp imported,
                         const CompileOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_ANNOTATIONFIXES_H
