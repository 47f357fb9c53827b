//===- Orthonormal.h - the Q of a matrix that is drawn by rows --*- C++ -*-===//
//
//   // A is 1000 x 64; rows(first, out) writes rows of it to `out`.
//   Orthonormal q(1000, 64, rows);
//   std::vector<double> block(10 * 64);
//   q.block(/*row=*/500, 10, /*column=*/0, 64, block);
//
// Q belongs to the QR factorization whose R has a positive diagonal: Q = A
// R^-1, where R is the Cholesky factor of A'A. The error of one such step grows
// with the square of A's condition number. So the step is repeated with Q in
// place of A until Q'Q is the identity, at most six times (Fukaya, Kannan,
// Nakatsukasa, Yamamoto and Yanagisawa, "Shifted Cholesky QR for computing the
// QR factorization of ill-conditioned matrices", 2020).
//
// Neither A nor Q is ever in memory, only the triangle R^-1 of columns *
// (columns + 1) / 2 doubles and, while it is computed, a second triangle. For a
// square matrix both together have about as many elements as A.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_INITIALIZERS_ORTHONORMAL_H
#define WEFT_DATA_INITIALIZERS_ORTHONORMAL_H

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace weft {

class Orthonormal {
public:
  /// The number of rows of A that are in memory at a time.
  static constexpr int64_t kPanel = 64;
  /// Writes the rows of A from `first` on, row-major, as many as fill `out`.
  using Rows = std::function<void(int64_t first, std::span<float> out)>;
  /// The matrix has at least as many rows as columns.
  Orthonormal(int64_t rows, int64_t columns, Rows draw);

  /// Writes a block of Q, row-major.
  void block(int64_t row, int64_t rows, int64_t column, int64_t columns,
             std::span<double> out) const;

private:
  /// An upper triangle, row by row.
  class Triangle {
  public:
    explicit Triangle(int64_t size)
        : size(size), values(size_t(size * (size + 1) / 2)) {}
    /// Element (i, j) of an upper triangle is row(i)[j], for j >= i.
    double *row(int64_t i) { return values.data() + offset(i); }
    const double *row(int64_t i) const { return values.data() + offset(i); }
    const int64_t size;

  private:
    int64_t offset(int64_t i) const { return i * size - i * (i + 1) / 2; }
    std::vector<double> values;
  };

  Triangle gram() const;
  static void factor(Triangle &gram, double least);
  static void invert(Triangle &r);
  void multiply(const Triangle &by);

  const int64_t rows, columns;
  Rows draw;
  Triangle inverse; ///< inverse of R
};

} // namespace weft

#endif // WEFT_DATA_INITIALIZERS_ORTHONORMAL_H
