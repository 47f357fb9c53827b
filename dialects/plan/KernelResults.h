//===- KernelResults.h - how many results a kernel writes -------*- C++ -*-===//
//
//   plan.device_kernel @relu in @code ... {plan.results = 1 : i64}
//   plan.launch @relu(%x, %y)           // reads %x, writes %y
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_PLAN_KERNELRESULTS_H
#define WEFT_DIALECTS_PLAN_KERNELRESULTS_H

#include "llvm/ADT/StringRef.h"

namespace weft::plan {

/// The attribute of a device's kernel (an op of this dialect) with the number
/// of buffers, the last of a launch, that it writes (i64); it only reads the
/// others. Without it any of them may be written.
inline constexpr llvm::StringLiteral kResultsAttr = "plan.results";

} // namespace weft::plan

#endif // WEFT_DIALECTS_PLAN_KERNELRESULTS_H
