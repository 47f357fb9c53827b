//===- Host.h - the host dialect --------------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_HOST_HOST_H
#define WEFT_DIALECTS_HOST_HOST_H

#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weft::host {
/// The name of host.call among collectives.
inline constexpr llvm::StringLiteral kCallName = "host_call";
} // namespace weft::host

#include "weft/dialects/host/HostDialect.h.inc"
#define GET_OP_CLASSES
#include "weft/dialects/host/HostOps.h.inc"

#endif // WEFT_DIALECTS_HOST_HOST_H
