//===- FixBar.h - the progress of a search for fixes ------------*- C++ -*-===//
//
//   trying changes of annotations ━━━━━━━━────────────  4/10
//
// on a terminal's line, which is cleared at the end.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_FIXBAR_H
#define WEFT_TOOLS_WEFT_COMPILER_FIXBAR_H

#include "weft/compiler/explain/FindFixes.h"
#include "weft/tools/weft/Commands.h"

namespace weft::tool {

/// The limits of --fix-seconds, with a bar on standard error if that is a
/// terminal.
FixLimits fixLimits(const ModelFlags &flags);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_FIXBAR_H
