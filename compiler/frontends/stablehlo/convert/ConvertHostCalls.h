//===- ConvertHostCalls.h - functions of the script -------------*- C++ -*-===//
//
// Private to the StableHLO front end.
//
//   custom_call @weft.host_call(%x) {backend_config = "7"}
//
// calls function 7 of the process that runs the program. JAX's plugin makes
// such calls for pure_callback, io_callback and debug.print.
//
//   custom_call @weft.observe(%x) {backend_config = "3"}
//
// requests the layout of the value; the program file has it under "3".
//
//   send %x to channel 5, recv from channel 6, is_host_transfer
//
// become host calls whose numbers are those of the channels in HostFunctions.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CONVERTHOSTCALLS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CONVERTHOSTCALLS_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

namespace weft::stablehlo {

inline constexpr llvm::StringLiteral kHostCall = "weft.host_call";

inline constexpr llvm::StringLiteral kObserve = "weft.observe";

LogicalResult convertObservation(Converter &c, ForeignOp op);
LogicalResult convertHostCall(Converter &c, ForeignOp op);
LogicalResult convertSend(Converter &c, ForeignOp op);
LogicalResult convertReceive(Converter &c, ForeignOp op);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CONVERTHOSTCALLS_H
