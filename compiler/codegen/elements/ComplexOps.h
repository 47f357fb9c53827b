//===- ComplexOps.h - complex numbers on registers --------------*- C++ -*-===//
//
// In memory a complex number is its real part, then its imaginary part. In
// registers it is a value of complex<f32> or complex<f64>. Most code is arith
// and math on the components; some code is ops of complex:
//
//   (a + bi)(c + di)    %re = a c - b d     %im = a d + b c
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_COMPLEXOPS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_COMPLEXOPS_H

#include "weft/dialects/weft/Weft.h"

namespace weft::elements {

struct ComplexEmitter {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value make(mlir::Value re, mlir::Value im) const;
  /// A real number as a complex number.
  mlir::Value number(mlir::ComplexType type, double value) const;
  mlir::Value re(mlir::Value x) const;
  mlir::Value im(mlir::Value x) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value subtract(mlir::Value x, mlir::Value y) const;
  mlir::Value multiply(mlir::Value x, mlir::Value y) const;
  mlir::Value divide(mlir::Value x, mlir::Value y) const;
  mlir::Value inverse(mlir::Value x) const;
  mlir::Value conj(mlir::Value x) const;
  /// Compares two numbers, EQ or NE.
  mlir::Value compare(CompareKind kind, mlir::Value x, mlir::Value y) const;
  mlir::Value logistic(mlir::Value x) const;
  /// Computes log(1 + x) and e^x - 1 without cancellation near 0.
  mlir::Value log1p(mlir::Value x) const;
  mlir::Value expm1(mlir::Value x) const;
  /// Computes x^y; 0 to any power is 0, or 1 if the power is 0.
  mlir::Value power(mlir::Value x, mlir::Value y) const;
  /// Converts to complex numbers, or from them: to the real part, or to i1,
  /// whether a component is not 0.
  mlir::Value convert(mlir::Type from, mlir::Type to, mlir::Value x) const;
};

/// Whether the op reads or writes complex numbers.
bool hasComplex(mlir::Operation *op);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_COMPLEXOPS_H
