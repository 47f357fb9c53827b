//===- ForeignMeanings.h - the meaning of upstream's ops --------*- C++ -*-===//
//
// Meanings of linalg's structured ops (by maps and bodies), arith, math and
// tensor. A function returns nothing for ops of other dialects.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_INTERPRET_FOREIGNMEANINGS_H
#define WEFT_PASSES_INTERPRET_FOREIGNMEANINGS_H

#include "weft/passes/interpret/Meanings.h"

namespace weft {

/// The element type in which the interpreter stores a value: i64 for index, the
/// element type of a tensor, a scalar's type.
mlir::Type storedElement(mlir::Type type);
/// Zeros for a value of this type, with rank 0 for a scalar.
Tensor storedTensor(mlir::Type type);

std::optional<Tensor> meaningOfArith(mlir::Operation *op, Operands in);
std::optional<Tensor> meaningOfTensorOp(mlir::Operation *op, Operands in);

/// Returns the value that a body uses from outside itself.
using Outside = llvm::function_ref<const Tensor *(mlir::Value)>;
/// Runs a structured op's iterations in row-major order, or a tensor.pad;
/// failure with an error if the body has an op without a meaning, or the
/// padding is not one value or not static.
std::optional<llvm::FailureOr<Tensors>>
meaningOfStructured(mlir::Operation *op, Operands in, Outside outside);

} // namespace weft

#endif // WEFT_PASSES_INTERPRET_FOREIGNMEANINGS_H
