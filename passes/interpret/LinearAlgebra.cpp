//===- LinearAlgebra.cpp - the meaning of factors, solutions, transforms --===//

#include "weft/dialects/weft/ops/LinearAlgebraOps.h"
#include "weft/passes/interpret/Meanings.h"

#include <cmath>

using namespace mlir;

namespace weft {

namespace {

using Complex = std::complex<double>;

/// Computes L row by row, in double. An upper factor is the adjoint of the
/// adjoint's L, which needs the same sums.
Tensor cholesky(const Tensor &a, bool upper) {
  Tensor result(a.getType());
  int64_t n = a.getShape().back();
  std::vector<Complex> l(n * n);
  auto at = [&](int64_t first, int64_t i, int64_t j) {
    return first + (upper ? j * n + i : i * n + j);
  };
  for (int64_t first = 0; first < a.size(); first += n * n)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        Complex sum = a.number(at(first, i, j));
        for (int64_t k = 0; k < j; ++k)
          sum -= product(l[i * n + k], std::conj(l[j * n + k]));
        l[i * n + j] =
            i == j ? std::sqrt(sum.real()) : sum / l[j * n + j].real();
        result.setNumber(at(first, i, j), l[i * n + j]);
      }
  return result;
}

/// Solves the systems one by one: M x = b, where M is the matrix, transposed
/// once for `transposed` and once for `right`, and conjugated for `conjugated`.
Tensor solve(TriangularSolveOp op, const Tensor &a, const Tensor &b) {
  Tensor result(b.getType());
  ArrayRef<int64_t> shape = b.getShape();
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  bool right = op.getRight(), turned = right != op.getTransposed();
  bool lower = op.getLower() != turned;
  int64_t n = right ? columns : rows, systems = right ? rows : columns;
  std::vector<Complex> x(n);
  for (int64_t batch = 0; n > 0 && batch < a.size() / (n * n); ++batch)
    for (int64_t s = 0; s < systems; ++s) {
      auto place = [&](int64_t i) {
        return batch * rows * columns +
               (right ? s * columns + i : i * columns + s);
      };
      auto m = [&](int64_t i, int64_t k) {
        Complex m = a.number(batch * n * n + (turned ? k * n + i : i * n + k));
        return op.getConjugated() ? std::conj(m) : m;
      };
      for (int64_t step = 0; step < n; ++step) {
        int64_t i = lower ? step : n - 1 - step;
        Complex sum = b.number(place(i));
        for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); ++k)
          sum -= product(m(i, k), x[k]);
        x[i] = op.getUnitDiagonal() ? sum : sum / m(i, i);
        result.setNumber(place(i), x[i]);
      }
    }
  return result;
}

/// The transform by its definition, in double; half a spectrum is mirrored
/// first.
Tensor transform(FftOp op, const Tensor &x) {
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  int64_t dim = op.getDim(), n = op.getLength(), given = x.getShape()[dim];
  int64_t minor = stridesOf(x.getShape())[dim], size = result.getShape()[dim];
  bool inverse =
      op.getKind() == FftKind::IFFT || op.getKind() == FftKind::IRFFT;
  auto at = [&](int64_t line, int64_t length, int64_t k) {
    return line / minor * length * minor + k * minor + line % minor;
  };
  for (int64_t line = 0; given && line < x.size() / given; ++line)
    for (int64_t k = 0; k < size; ++k) {
      Complex sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        Complex value = j < given ? x.number(at(line, given, j))
                                  : std::conj(x.number(at(line, given, n - j)));
        double angle = 2 * M_PI * static_cast<double>(j * k % n) / n;
        sum += product(value, std::polar(1.0, inverse ? angle : -angle));
      }
      result.setNumber(at(line, size, k), inverse ? sum / double(n) : sum);
    }
  return result;
}

} // namespace

std::optional<Tensor> meaningOfLinearAlgebra(Operation *op, Operands in) {
  if (auto choleskyOp = dyn_cast<CholeskyOp>(op))
    return cholesky(*in[0], choleskyOp.getUpper());
  if (auto solveOp = dyn_cast<TriangularSolveOp>(op))
    return solve(solveOp, *in[0], *in[1]);
  if (auto fftOp = dyn_cast<FftOp>(op))
    return transform(fftOp, *in[0]);
  return std::nullopt;
}

} // namespace weft
