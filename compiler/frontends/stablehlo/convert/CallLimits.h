//===- CallLimits.h - how far inlining lets a program grow ------*- C++ -*-===//
//
// Limits on calls. They are inlined, so a program's size is that of its
// expansion: of 30 functions that each call the previous one twice the last has
// 2^30 copies of the first. The size is computed from the functions before any
// is inlined.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

namespace weft::stablehlo {

/// The function that the op calls, or its decomposition; empty for other ops.
llvm::StringRef calleeOf(ForeignOp op);

/// Refuses recursion, calls and regions that are nested too deep, and a program
/// that inlining makes too large. Requires the function `entry`. Sets `ops` of
/// each function that is called: the number of ops with all calls inlined.
LogicalResult checkCalls(llvm::StringMap<Function> &functions,
                         llvm::StringRef entry);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H
