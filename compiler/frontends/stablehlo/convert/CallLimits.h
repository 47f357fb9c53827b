//===- CallLimits.h - how far inlining lets a program grow ------*- C++ -*-===//
//
// Calls are inlined, so a program's size is that of its expansion: of 30
// functions that call the former twice the last one has 2^30 copies of the
// first. The size is calculated from the functions, before any is inlined.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

namespace weft::stablehlo {

/// The function that the op calls, or the decomposition that stands for it;
/// empty for other ops.
llvm::StringRef calleeOf(ForeignOp op);

/// Refuses recursion, calls and regions that are nested too deep, and a program
/// that inlining makes too large. Requires the function `entry`. Each function
/// that it calls is given its `ops` with all calls inlined.
LogicalResult checkCalls(llvm::StringMap<Function> &functions,
                         llvm::StringRef entry);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CALLLIMITS_H
