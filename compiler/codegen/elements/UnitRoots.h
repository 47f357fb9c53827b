//===- UnitRoots.h - tables of roots of unity -------------------*- C++ -*-===//
//
//   exp(-2 pi i k / n) of k from 0 to n - 1, for Fourier transforms. Up to
//   kMostFftTable numbers are one table. More are products of two numbers of
//   two short tables, so that a kernel's data grows with the root of n:
//
//     n = 2^20, k = 1030:   exp(-2 pi i 1024 / n) * exp(-2 pi i 6 / n)
//
// Numbers and products are computed here in double and rounded to the
// transform's type.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_UNITROOTS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_UNITROOTS_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"

#include <complex>

namespace weft::elements {

/// The address of a kernel's constant numbers.
mlir::Value numberTable(ElementEmitter &e, mlir::Type component,
                        llvm::ArrayRef<double> numbers);
/// The address of a kernel's constant complex numbers.
mlir::Value complexTable(ElementEmitter &e, mlir::Type component,
                         llvm::ArrayRef<std::complex<double>> numbers);
/// exp(-2 pi i k / n); quarters of a turn are exact.
std::complex<double> unitRoot(int64_t k, int64_t n);

class UnitRoots {
public:
  /// The roots, or with `inverse` their inverses, times `factor`.
  UnitRoots(ElementEmitter &e [[clang::lifetimebound]], mlir::Type component,
            int64_t n, bool inverse = false, double factor = 1);
  /// The real and the imaginary part of number k, which is in [0, n).
  std::pair<mlir::Value, mlir::Value> load(mlir::Value k) const;

private:
  std::pair<mlir::Value, mlir::Value> loadFrom(mlir::Value table,
                                               mlir::Value k) const;

  ElementEmitter &e;
  mlir::Type component;
  int64_t step = 0; ///< distance of numbers of `coarse`; 0 for one table
  mlir::Value fine, coarse;
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_UNITROOTS_H
