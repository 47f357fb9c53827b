//===- TensorType.h - the type of a value that is a tensor ------*- C++ -*-===//
//
//   typeOf(op.getInput()).getShape()
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_TENSORTYPE_H
#define WEFT_DIALECTS_WEFT_TENSORTYPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace weft {

/// The type of a ranked tensor. Another value is an internal error.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_TENSORTYPE_H
