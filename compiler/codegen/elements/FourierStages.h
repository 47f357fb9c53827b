//===- FourierStages.h - stages of a Fourier transform ----------*- C++ -*-===//
//
// Numbers are registers of one line's real and imaginary parts, or vectors with
// a lane for each line of a group. In memory all real parts of a position are
// followed by all imaginary parts:
//
//   1 line         re0 im0 | re1 im1 | ...
//   lines a to d   re0a re0b re0c re0d im0a im0b im0c im0d | re1a re1b ...
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_FOURIERSTAGES_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_FOURIERSTAGES_H

#include "weft/compiler/codegen/elements/UnitRoots.h"

namespace weft::elements {

/// A complex number on registers, or one for each lane.
struct Pair {
  mlir::Value re, im;
};

/// Two arrays of numbers: stages alternate between them.
struct Scratch {
  mlir::Value here, there;
};

/// Roots of unity of n times `apart`, of which a transform of length n has
/// every `apart`-th.
struct StageRoots {
  const UnitRoots &roots;
  int64_t apart;
  bool inverse;
};

struct FourierStages {
  ElementEmitter &e;
  mlir::Type component;
  int64_t lanes;
  mlir::Type registers; ///< `component`, or a vector of it

  FourierStages(ElementEmitter &e [[clang::lifetimebound]],
                mlir::Type component, int64_t lanes);

  mlir::Value number(double value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value subtract(mlir::Value x, mlir::Value y) const;
  mlir::Value multiply(mlir::Value x, mlir::Value y) const;
  mlir::Value negate(mlir::Value x) const;
  Pair add(Pair x, Pair y) const { return {add(x.re, y.re), add(x.im, y.im)}; }
  Pair subtract(Pair x, Pair y) const {
    return {subtract(x.re, y.re), subtract(x.im, y.im)};
  }
  Pair times(Pair x, Pair w) const;
  /// x * w, without multiplications by 0, 1 and -1.
  Pair times(Pair x, std::complex<double> w) const;
  Pair scaled(Pair x, double factor) const;
  Pair conj(Pair x) const { return {x.re, negate(x.im)}; }

  Pair load(mlir::Value memory, mlir::Value i) const;
  void store(Pair x, mlir::Value memory, mlir::Value i) const;
  /// Loads a root into all lanes.
  Pair load(const UnitRoots &roots, mlir::Value k) const;
  Pair load(const StageRoots &roots, mlir::Value k) const;
  /// Loads and stores as many adjacent complex numbers as there are lanes, from
  /// component `at` on: elements of a tensor, or of one line.
  Pair loadAdjacent(mlir::Value memory, mlir::Value at) const;
  void storeAdjacent(Pair x, mlir::Value memory, mlir::Value at) const;
  /// Loads and stores a vector at component `at`.
  mlir::Value loadVector(mlir::Value memory, mlir::Value at) const;
  void storeVector(mlir::Value x, mlir::Value memory, mlir::Value at) const;
  /// Loads number k of a table of complex numbers into all lanes.
  Pair loadTable(mlir::Value table, mlir::Value k) const;

  /// Builds a loop whose iterations are independent, and closes it.
  template <typename Body>
  void each(int64_t begin, int64_t end, Body body) const {
    e.each(e.constant(begin), e.constant(end), [&](mlir::Value i) {
      e.markParallel();
      body(i);
    });
  }

  /// Transforms lines of n numbers; returns the array with the result.
  mlir::Value transform(Scratch memory, int64_t n,
                        const StageRoots &roots) const;
  /// Transforms one line of rows * columns numbers, as an array of one lane, in
  /// vectors of columns, then of rows; returns the array with the result. Both
  /// counts are multiples of the lanes, for which `work` is memory.
  mlir::Value transformMatrix(Scratch line, Scratch work, int64_t rows,
                              int64_t columns, const StageRoots &roots) const;
  /// The other of the arrays.
  static mlir::Value otherOf(Scratch memory, mlir::Value array) {
    return array == memory.here ? memory.there : memory.here;
  }

private:
  void transformColumns(mlir::Value line, Scratch work, int64_t rows,
                        int64_t columns, const StageRoots &roots) const;
  void transformRows(Scratch line, Scratch work, int64_t rows, int64_t columns,
                     const StageRoots &roots) const;
  mlir::Value inLanes(mlir::Value x) const;
  llvm::SmallVector<Pair> butterfly(llvm::ArrayRef<Pair> x, bool inverse) const;
  llvm::SmallVector<Pair> oddButterfly(llvm::ArrayRef<Pair> x,
                                       bool inverse) const;
  void stage(Scratch memory, int64_t n, int64_t radix, int64_t before,
             const StageRoots &roots) const;
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_FOURIERSTAGES_H
