//===- LinearAlgebra.cpp - the meaning of factorisation and solving --------===//

#include "weft/dialects/interpret/Meanings.h"
#include "weft/dialects/weft/LinearAlgebraOps.h"

#include <cmath>

using namespace mlir;

namespace weft {

namespace {

/// L row by row, in double; an upper factor is L of the transpose, transposed.
Tensor cholesky(const Tensor &a, bool upper) {
  Tensor result(a.getType());
  int64_t n = a.getShape().back();
  std::vector<double> l(n * n);
  auto at = [&](int64_t first, int64_t i, int64_t j) {
    return first + (upper ? j * n + i : i * n + j);
  };
  for (int64_t first = 0; first < a.size(); first += n * n)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        double sum = a.real(at(first, i, j));
        for (int64_t k = 0; k < j; ++k)
          sum -= l[i * n + k] * l[j * n + k];
        l[i * n + j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
        result.setReal(at(first, i, j), l[i * n + j]);
      }
  return result;
}

/// One system after the other: M x = b, where M is the matrix, transposed once
/// for `transposed` and once for `right`.
Tensor solve(TriangularSolveOp op, const Tensor &a, const Tensor &b) {
  Tensor result(b.getType());
  ArrayRef<int64_t> shape = b.getShape();
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  bool right = op.getRight(), turned = right != op.getTransposed();
  bool lower = op.getLower() != turned;
  int64_t n = right ? columns : rows, systems = right ? rows : columns;
  std::vector<double> x(n);
  for (int64_t batch = 0; n > 0 && batch < a.size() / (n * n); ++batch)
    for (int64_t s = 0; s < systems; ++s) {
      auto place = [&](int64_t i) {
        return batch * rows * columns + (right ? s * columns + i : i * columns + s);
      };
      auto m = [&](int64_t i, int64_t k) {
        return a.real(batch * n * n + (turned ? k * n + i : i * n + k));
      };
      for (int64_t step = 0; step < n; ++step) {
        int64_t i = lower ? step : n - 1 - step;
        double sum = b.real(place(i));
        for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); ++k)
          sum -= m(i, k) * x[k];
        x[i] = op.getUnitDiagonal() ? sum : sum / m(i, i);
        result.setReal(place(i), x[i]);
      }
    }
  return result;
}

} // namespace

std::optional<Tensor> meaningOfLinearAlgebra(Operation *op, Operands in) {
  if (auto choleskyOp = dyn_cast<CholeskyOp>(op))
    return cholesky(*in[0], choleskyOp.getUpper());
  if (auto solveOp = dyn_cast<TriangularSolveOp>(op))
    return solve(solveOp, *in[0], *in[1]);
  return std::nullopt;
}

} // namespace weft
