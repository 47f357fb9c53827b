//===- FourierMatrix.cpp - transform of one long line ---------------------===//
//
// A line of n = rows * columns numbers is a matrix in row-major order. With
// w = exp(-2 pi i / n):
//
//   X[k + rows m] = sum over j of w^(rows j m) w^(j k)
//                   (sum over i of x[i columns + j] w^(columns i k))
//
// The inner sums are transforms of columns, in place; the outer ones transforms
// of rows, whose results are columns of the matrix [columns][rows].
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/FourierStages.h"
#include "weft/compiler/codegen/elements/TransposedVectors.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

/// The roots w^(k lane) of each row k, as numbers are in memory.
static Value rootsOfLanes(const FourierStages &in, int64_t rows, int64_t n,
                          bool inverse) {
  SmallVector<double> numbers;
  for (int64_t k = 0; k < rows; ++k)
    for (bool isImaginary : {false, true})
      for (int64_t lane = 0; lane < in.lanes; ++lane) {
        std::complex<double> root = unitRoot(k * lane, n);
        double im = inverse ? -root.imag() : root.imag();
        numbers.push_back(isImaginary ? im : root.real());
      }
  return numberTable(in.e, in.component, numbers);
}

/// Transforms columns in place, and multiplies number k of column j by w^(j k).
void FourierStages::transformColumns(Value line, Scratch work, int64_t rows,
                                     int64_t columns,
                                     const StageRoots &roots) const {
  Value ofLanes = rootsOfLanes(*this, rows, rows * columns, roots.inverse);
  e.eachOf(columns, lanes, [&](Value column) {
    auto componentOf = [&](Value row) {
      return e.mul(e.add(e.mul(row, columns), column), 2);
    };
    each(0, rows, [&](Value i) {
      store(loadAdjacent(line, componentOf(i)), work.here, i);
    });
    Value result = transform(
        work, rows, {roots.roots, roots.apart * columns, roots.inverse});
    each(0, rows, [&](Value k) {
      Value power = arith::MulIOp::create(e.builder, e.loc, k, column);
      Pair root = times(load(roots, power), load(ofLanes, k));
      storeAdjacent(times(load(result, k), root), line, componentOf(k));
    });
  });
}

/// Transforms rows of line.here to columns of line.there.
void FourierStages::transformRows(Scratch line, Scratch work, int64_t rows,
                                  int64_t columns,
                                  const StageRoots &roots) const {
  e.eachOf(rows, lanes, [&](Value row) {
    e.each(2 * columns / lanes, [&](Value square) {
      Value at = e.mul(square, lanes);
      SmallVector<Value> numbers;
      for (int64_t i = 0; i < lanes; ++i)
        numbers.push_back(loadVector(
            line.here,
            e.add(e.mul(e.add(row, e.constant(i)), 2 * columns), at)));
      numbers =
          transposedVectors(e.builder, e.loc, numbers, bytesOf(component));
      for (auto [i, x] : llvm::enumerate(numbers))
        storeVector(x, work.here,
                    e.mul(e.add(at, e.constant(int64_t(i))), lanes));
    });
    Value result = transform(work, columns,
                             {roots.roots, roots.apart * rows, roots.inverse});
    each(0, columns, [&](Value m) {
      storeAdjacent(load(result, m), line.there,
                    e.mul(e.add(e.mul(m, rows), row), 2));
    });
  });
}

Value FourierStages::transformMatrix(Scratch line, Scratch work, int64_t rows,
                                     int64_t columns,
                                     const StageRoots &roots) const {
  transformColumns(line.here, work, rows, columns, roots);
  transformRows(line, work, rows, columns, roots);
  return line.there;
}

} // namespace weft::elements
