//===- FindNonFinite.h - which op made the first NaN ------------*- C++ -*-===//
//
//   weft.log of scores gives -inf at [2, 0], where it was given numbers from
//   0 to 0.9
//
// is the message of `--check-numerics` for a step with results that are not
// finite. The step is repeated in the reference interpreter, op by op.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_FINDNONFINITE_H
#define WEFT_TOOLS_WEFT_COMPILER_FINDNONFINITE_H

#include "weft/data/formats/Npz.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft::tool {

/// Finds the first op with a NaN result from operands without NaN, or an
/// infinite result from finite operands; or an input with such a value; or says
/// that there is none. `module`: its first function at stage `differentiated`;
/// `inputs` by port.
Result<std::string> findNonFinite(mlir::ModuleOp module,
                                  const std::vector<NamedArray> &inputs);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_FINDNONFINITE_H
