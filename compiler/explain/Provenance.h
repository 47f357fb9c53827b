//===- Provenance.h - the purpose of an instruction -------------*- C++ -*-===//
//
// The provenance of an op is in its location, a fusion of names around files:
//
//   loc(fused["d2/output"("train.py":12), "gradient of"("d1"("train.py":9))])
//
// has the paths d2/output and d1, the lines train.py:12 and train.py:9, and is
// part of the backward pass.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_PROVENANCE_H
#define WEFT_COMPILER_EXPLAIN_PROVENANCE_H

#include "weft/dialects/plan/Plan.h"

#include <string>
#include <vector>

namespace weft {

/// The outermost name of each location that was fused, each once.
std::vector<std::string> pathsOf(mlir::Location location);
/// The line, as train.py:12, of each location that was fused: the innermost of
/// its calls.
std::vector<std::string> linesOf(mlir::Location location);
/// Whether differentiation made the op.
bool isBackward(mlir::Location location);
/// The first kernel of the backward pass, or null.
mlir::Operation *beginOfBackward(plan::ProgramOp program);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_PROVENANCE_H
