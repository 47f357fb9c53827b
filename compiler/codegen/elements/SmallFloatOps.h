//===- SmallFloatOps.h - floats of at most eight bits -----------*- C++ -*-===//
//
// In memory f8E4M3FN, f8E5M2, ..., f4E2M1FN are bytes; in registers they are
// f32, rounded to the small type after each op. Sums in a register are rounded
// only at the end.
//
//   load     bits i8 -> f32, exact
//   store    f32 -> bits, the nearest, halves to even (of e8m0fnu up);
//            larger numbers become NaN (e4m3fn, above 464), infinity (e5m2,
//            from 61440) or the largest number (e2m1fn, 6)
//
// base/SmallFloats.h is the same in C++.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_SMALLFLOATOPS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_SMALLFLOATOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace weft::elements {

/// Whether the type is a float of at most eight bits.
inline bool isSmallFloat(mlir::Type type) {
  auto real = llvm::dyn_cast<mlir::FloatType>(type);
  return real && real.getWidth() <= 8;
}
/// The type of arithmetic on `type`: f32 for small floats, else the type
/// itself.
inline mlir::Type scalarType(mlir::Type type) {
  return isSmallFloat(type) ? mlir::Float32Type::get(type.getContext()) : type;
}

/// A constant of a small float as the number in its register.
mlir::FloatAttr smallConstant(const llvm::APFloat &value, mlir::Type type);
/// The value of these bits, in a register or a vector.
mlir::Value smallFromBits(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type type, mlir::Value bits);
mlir::Value smallToBits(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Type type, mlir::Value value);
/// Rounds an f32 to a value of this type; values of other types are unchanged.
mlir::Value roundedTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Type type, mlir::Value value);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_SMALLFLOATOPS_H
