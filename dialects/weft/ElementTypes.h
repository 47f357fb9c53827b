//===- ElementTypes.h - what an element type is made of ---------*- C++ -*-===//
//
//   complex<f32>   two parts of f32, 64 bits, 8 bytes
//   f32            one part: itself, 32 bits, 4 bytes
//   i1             one part: itself, 1 bit, 1 byte
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_ELEMENTTYPES_H
#define WEFT_DIALECTS_WEFT_ELEMENTTYPES_H

#include "weft/dialects/layout/Sizes.h"
#include "weft/layout/ElementBytes.h"

#include "mlir/IR/BuiltinTypes.h"

namespace weft {

/// The type of the real and the imaginary part; a real type itself.
inline mlir::Type partType(mlir::Type elementType) {
  auto complex = llvm::dyn_cast<mlir::ComplexType>(elementType);
  return complex ? complex.getElementType() : elementType;
}

/// 2 of complex numbers.
inline int64_t partsOf(mlir::Type elementType) {
  return llvm::isa<mlir::ComplexType>(elementType) ? 2 : 1;
}

/// In memory; each part takes whole bytes. 8 for a type without a width.
inline int64_t bytesOf(mlir::Type elementType) {
  mlir::Type part = partType(elementType);
  if (!part.isIntOrFloat())
    return 8;
  return elementBytes(part.getIntOrFloatBitWidth(), partsOf(elementType));
}

/// Bytes of all elements of a static shape, without gaps; INT64_MAX where there are
/// more.
inline int64_t bufferBytes(mlir::ShapedType type) {
  return tensorBytes(type.getShape(), bytesOf(type.getElementType()));
}

/// Has a derivative: real or complex floats.
inline bool isDifferentiable(mlir::Type elementType) {
  return llvm::isa<mlir::FloatType>(partType(elementType));
}

/// Is every number of the one type, infinities and NaN too, one of the other?
/// bf16 of f32, i8 of i32, ui8 of i16; not i8 of ui32, i32 of f64.
bool isExactIn(mlir::Type from, mlir::Type to);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_ELEMENTTYPES_H
