//===- FindNonFinite.h - which op made the first NaN ------------*- C++ -*-===//
//
//   weft.log of layer "scores" gives -inf at [2, 0], where it was given 0
//
// is what `--check-numerics` says of a step whose results are no numbers. The step
// is done again in the reference interpreter, op by op.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_FINDNONFINITE_H
#define WEFT_TOOLS_WEFT_COMPILER_FINDNONFINITE_H

#include "weft/runtime/data/Npz.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft::tool {

/// The first op that gives a NaN where it was given none, or an infinity where it
/// was given neither; an input that has one itself. `module`: its first function at
/// stage `differentiated`; `inputs` by port.
Result<std::string> findNonFinite(mlir::ModuleOp module,
                                  const std::vector<NamedArray> &inputs);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_FINDNONFINITE_H
