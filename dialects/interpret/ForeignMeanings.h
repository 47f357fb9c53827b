//===- ForeignMeanings.h - the meaning of upstream's ops --------*- C++ -*-===//
//
// linalg's structured ops by their maps and bodies, arith and math, tensor.
// Each gives nothing for other ops.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_INTERPRET_FOREIGNMEANINGS_H
#define WEFT_DIALECTS_INTERPRET_FOREIGNMEANINGS_H

#include "weft/dialects/interpret/Meanings.h"

namespace weft {

/// i64 for index; the element type of a tensor; a scalar's type.
mlir::Type storedElement(mlir::Type type);
/// Zeros for a value of this type; rank 0 for a scalar.
Tensor storedTensor(mlir::Type type);

std::optional<Tensor> meaningOfArith(mlir::Operation *op, Operands in);
std::optional<Tensor> meaningOfTensorOp(mlir::Operation *op, Operands in);

/// The value that a body sees from outside itself.
using Outside = llvm::function_ref<const Tensor *(mlir::Value)>;
/// Iterations in row-major order; failure with an error where the body has an
/// op without a meaning.
std::optional<llvm::FailureOr<Tensors>>
meaningOfStructured(mlir::Operation *op, Operands in, Outside outside);

} // namespace weft

#endif // WEFT_DIALECTS_INTERPRET_FOREIGNMEANINGS_H
