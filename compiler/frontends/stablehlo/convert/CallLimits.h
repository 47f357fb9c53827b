//===- CallLimits.h - how far inlining lets a program grow ------*- C++ -*-===//
//
// Limits on calls, which are all inlined. Of 30 functions that each call the
// previous one twice, the last would contain 2^29 copies of the first. So the
// size after inlining is computed before any call is inlined.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

namespace weft::stablehlo {

/// The function that the op calls, or its decomposition; empty for other ops.
llvm::StringRef calleeOf(ForeignOp op);

/// Refuses recursion, too deep nesting of calls and regions, and programs that
/// inlining makes too large. Requires the function `entry`. Sets `ops` of
/// `entry` and of each called function to its number of ops with all calls
/// inlined.
LogicalResult checkCalls(llvm::StringMap<Function> &functions,
                         llvm::StringRef entry);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H
