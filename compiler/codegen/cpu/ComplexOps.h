//===- ComplexOps.h - complex numbers on registers --------------*- C++ -*-===//
//
// In memory a complex number is its real part, then its imaginary part. In
// registers it is a value of complex<f32>, of which arith and math only see the
// parts:
//
//   (a + bi)(c + di)    %re = a c - b d     %im = a d + b c
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_COMPLEXOPS_H
#define WEFT_COMPILER_CODEGEN_CPU_COMPLEXOPS_H

#include "weft/dialects/weft/Weft.h"

namespace weft::cpu {

struct ComplexEmitter {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value make(mlir::Value re, mlir::Value im) const;
  /// A real number.
  mlir::Value number(mlir::ComplexType type, double value) const;
  mlir::Value re(mlir::Value x) const;
  mlir::Value im(mlir::Value x) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value subtract(mlir::Value x, mlir::Value y) const;
  mlir::Value multiply(mlir::Value x, mlir::Value y) const;
  mlir::Value divide(mlir::Value x, mlir::Value y) const;
  mlir::Value conj(mlir::Value x) const;
};

/// Does the op read or write complex numbers?
bool hasComplex(mlir::Operation *op);
/// An elementwise op that does; null for one that has no code.
mlir::Value emitComplexOp(mlir::OpBuilder &builder, mlir::Operation *op,
                          mlir::ValueRange operands);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_COMPLEXOPS_H
