//===- VerifyParts.h - no device reads what it does not have ----*- C++ -*-===//
//
//   %y = weft.at #mesh {"branch" = 0} (%x) ...
//   %z = weft.relu %y
//
// is refused, as devices with another coordinate have no %y: "runs on the whole
// mesh, but operand 0 is only on "branch"=0".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_STAGES_VERIFYPARTS_H
#define WEFT_COMPILER_STAGES_VERIFYPARTS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace weft {

/// The reason why an op of a partitioned program would read a value on a device
/// without it, or wait for a device that does not run it; or empty.
std::string whyNotOnItsPart(mlir::Operation *op);

} // namespace weft

#endif // WEFT_COMPILER_STAGES_VERIFYPARTS_H
