//===- ElementTypes.h - properties of element types -------------*- C++ -*-===//
//
//   complex<f32>   two components of f32, 64 bits, 8 bytes
//   f32            one component: itself, 32 bits, 4 bytes
//   i1             one component: itself, 1 bit, 1 byte
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_ELEMENTTYPES_H
#define WEFT_DIALECTS_WEFT_ELEMENTTYPES_H

#include "weft/layout/Sizes.h"

#include "mlir/IR/BuiltinTypes.h"

namespace weft {

/// The type of the real and the imaginary component; a real type itself.
inline mlir::Type componentType(mlir::Type elementType) {
  auto complex = llvm::dyn_cast<mlir::ComplexType>(elementType);
  return complex ? complex.getElementType() : elementType;
}

/// The number of components: 2 of complex numbers, else 1.
inline int64_t componentsOf(mlir::Type elementType) {
  return llvm::isa<mlir::ComplexType>(elementType) ? 2 : 1;
}

/// Bytes of an element in memory; each component takes full bytes: 4 of f32, 1
/// of i1 and i4, 16 of complex<f64>. 8 for a type without a width.
inline int64_t bytesOf(mlir::Type elementType) {
  mlir::Type component = componentType(elementType);
  if (!component.isIntOrFloat())
    return 8;
  return componentsOf(elementType) *
         ((component.getIntOrFloatBitWidth() + 7) / 8);
}

/// Bytes of all elements of a static shape, without gaps; INT64_MAX if there
/// are more.
inline int64_t bufferBytes(mlir::ShapedType type) {
  return tensorBytes(type.getShape(), bytesOf(type.getElementType()));
}

/// Whether the type has a derivative: real or complex floats.
inline bool isDifferentiable(mlir::Type elementType) {
  return llvm::isa<mlir::FloatType>(componentType(elementType));
}

/// Whether every number of `from`, infinities and NaN included, is one of
/// `to`: bf16 in f32, i8 in i32, ui8 in i16; not i8 in ui32, i32 in f64.
/// Complex types and floats below 16 bits count as having their own numbers
/// only.
bool isExactIn(mlir::Type from, mlir::Type to);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_ELEMENTTYPES_H
