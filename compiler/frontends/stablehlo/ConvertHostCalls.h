//===- ConvertHostCalls.h - functions of the script ------------*- C++ -*-===//
//
// Private to the StableHLO front end.
//
//   custom_call @weft.host_call(%x) {backend_config = "7"}
//
// calls function 7 of the process that runs the program: what the plugin of
// JAX makes of pure_callback, io_callback and debug.print.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERTHOSTCALLS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERTHOSTCALLS_H

#include "weft/compiler/frontends/stablehlo/Converter.h"

namespace weft::stablehlo {

inline constexpr llvm::StringLiteral kHostCall = "weft.host_call";

LogicalResult convertHostCall(Converter &c, ForeignOp op);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERTHOSTCALLS_H
