//===- Promotion.h - types of results, as JAX finds them ---------*- C++ -*-===//
//
//   promoted(i32, f32)   f32: a float wins over integers
//   promoted(i1, i8)     i8
//   promoted(f16, bf16)  f32: the smallest type that holds both
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_PROMOTION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_PROMOTION_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <string>

namespace weft::keras {

inline mlir::Type elementOf(Tensor x) { return tensorType(x).getElementType(); }
inline bool isFloat(Tensor x) {
  return mlir::isa<mlir::FloatType>(elementOf(x));
}
inline bool isBool(Tensor x) { return elementOf(x).isInteger(1); }

mlir::Type promoted(mlir::Type a, mlir::Type b);
/// The result type of an op on a tensor of type `a` and a Python number, which
/// can change booleans to integers and integers to floats, but not the width of
/// its own kind.
mlir::Type promotedWithNumber(mlir::Type a, mlir::Type number);

/// Converts one or more tensors to their common type.
void toCommonType(Tensors &t, llvm::MutableArrayRef<Tensor> values);
/// Converts to the type; elements of a boolean are true if x is not 0.
Tensor castTo(Tensors &t, Tensor x, mlir::Type type);
Tensor asFloats(Tensors &t, Tensor x);
/// The value; a boolean becomes i32, as JAX converts operands of arithmetic.
Tensor asNumbers(Tensors &t, Tensor x);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_PROMOTION_H
