//===- AnnotationFixes.h - cheaper annotations of a program -----*- C++ -*-===//
//
//   all_reduce   model   480   y
//     fix  change the layout of "w" from [{"model"}, {}] to [{}, {}]: a step
//          sends 0 bytes instead of 480 and a device holds ... bytes more
//
// Changes (AnnotationChanges.h) are tried, as many as affordableChanges()
// gives: the program is compiled with each until its bytes can be counted.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_DRIVER_ANNOTATIONFIXES_H
#define WEFT_COMPILER_DRIVER_ANNOTATIONFIXES_H

#include "weft/compiler/driver/CompileStep.h"
#include "weft/compiler/explain/Explain.h"

namespace weft {

/// Fills the `fix` of the collectives of a program that states its layouts in
/// its own text. `imported` is its module at stage `imported`, `scheduled` its
/// costs (Progress::scheduled).
void findAnnotationFixes(Explanation &explanation,
                         const std::optional<Explanation> &scheduled,
                         mlir::ModuleOp imported,
                         const CompileOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_ANNOTATIONFIXES_H
