//===- Float8Ops.h - floats of eight bits on processors without -*- C++ -*-===//
//
// In memory f8E4M3FN and f8E5M2 are bytes; in registers they are f32, rounded
// after each op, as if it had been done on eight bits. Sums that stay in a
// register are rounded at their end only.
//
//   load     bits i8 -> f32, exact
//   store    f32 -> bits, the nearest, halves to even; what is too large
//            becomes NaN (e4m3fn, above 464) or infinity (e5m2, from 61440)
//
// runtime/program/Float8.h is the same in C++.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_FLOAT8OPS_H
#define WEFT_COMPILER_CODEGEN_CPU_FLOAT8OPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace weft::cpu {

inline bool isFloat8(mlir::Type type) {
  return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type);
}
/// What arithmetic is done in: f32 for eight bits, else the type itself.
inline mlir::Type scalarType(mlir::Type type) {
  return isFloat8(type) ? mlir::Float32Type::get(type.getContext()) : type;
}

mlir::Value float8FromBits(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value bits);
mlir::Value float8ToBits(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value value);
/// The f32 that a register of this type may hold; others as they are.
mlir::Value roundedTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value value);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_FLOAT8OPS_H
