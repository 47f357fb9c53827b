#include "weft/data/initializers/Orthonormal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {

Orthonormal::Orthonormal(int64_t rows, int64_t columns, Rows draw)
    : rows(rows), columns(columns), draw(std::move(draw)), inverse(columns) {
  for (int64_t i = 0; i < columns; ++i)
    inverse.row(i)[i] = 1;
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  constexpr int kMostSteps = 6; // three are enough for a condition below 1e16
  double error = 1;
  for (int step = 0; step < kMostSteps && error > 1e-9; ++step) {
    Triangle product = gram();
    error = 0;
    double trace = 0;
    for (int64_t i = 0; i < columns; ++i) {
      trace += product.row(i)[i];
      for (int64_t j = i; j < columns; ++j)
        if (product.row(i)[i] != 0)
          error = std::max(error, std::abs(product.row(i)[j] - (i == j)));
    }
    factor(product, error > 1e-3 ? epsilon * trace : 0);
    invert(product);
    multiply(product);
  }
}

void Orthonormal::block(int64_t row, int64_t count, int64_t column,
                        int64_t wide, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<float> drawn;
  int64_t end = column + wide;
  for (int64_t first = 0; first < count; first += kPanel) {
    int64_t panel = std::min(kPanel, count - first);
    drawn.resize(size_t(panel * columns));
    draw(row + first, drawn);
    // Row k of the triangle is used for all rows of the panel.
    for (int64_t k = 0; k < end; ++k) {
      const double *factors = inverse.row(k);
      for (int64_t i = 0; i < panel; ++i) {
        double element = double(drawn[size_t(i * columns + k)]);
        double *to = out.data() + (first + i) * wide - column;
        for (int64_t j = std::max(k, column); j < end; ++j)
          to[j] += element * factors[j];
      }
    }
  }
}

/// Q'Q, for the present R.
Orthonormal::Triangle Orthonormal::gram() const {
  Triangle out(columns);
  std::vector<double> panel;
  for (int64_t first = 0; first < rows; first += kPanel) {
    int64_t count = std::min(kPanel, rows - first);
    panel.resize(size_t(count * columns));
    block(first, count, 0, columns, panel);
    for (int64_t i = 0; i < columns; ++i) {
      double *sums = out.row(i);
      for (int64_t r = 0; r < count; ++r) {
        const double *from = panel.data() + r * columns;
        double factor = from[i];
        for (int64_t j = i; j < columns; ++j)
          sums[j] += factor * from[j];
      }
    }
  }
  return out;
}

/// Replaces a matrix by its Cholesky factor. A pivot is at least `least`; the
/// row of a pivot that is not positive is zero.
void Orthonormal::factor(Triangle &gram, double least) {
  for (int64_t k = 0; k < gram.size; ++k) {
    double *row = gram.row(k);
    double pivot = std::max(row[k], least);
    double root = pivot > 0 ? std::sqrt(pivot) : 0;
    for (int64_t j = k; j < gram.size; ++j)
      row[j] = root > 0 ? (j == k ? root : row[j] / root) : 0;
    for (int64_t i = k + 1; i < gram.size; ++i) {
      double *below = gram.row(i);
      for (int64_t j = i; j < gram.size; ++j)
        below[j] -= row[i] * row[j];
    }
  }
}

/// Replaces R by its inverse, from the last row up; row and column of a zero
/// pivot become zero.
void Orthonormal::invert(Triangle &r) {
  std::vector<double> found(r.size);
  for (int64_t i = r.size; i--;) {
    double *row = r.row(i);
    double diagonal = row[i];
    std::fill(found.begin() + i, found.end(), 0.0);
    if (diagonal > 0) {
      found[size_t(i)] = 1 / diagonal;
      for (int64_t k = i + 1; k < r.size; ++k) {
        const double *below = r.row(k); // a row of the inverse
        for (int64_t j = k; j < r.size; ++j)
          found[size_t(j)] -= row[k] * below[j] / diagonal;
      }
    }
    std::copy(found.begin() + i, found.end(), row + i);
  }
}

/// Replaces R^-1 by R^-1 times `by`; row i needs its own old elements only.
void Orthonormal::multiply(const Triangle &by) {
  std::vector<double> found(inverse.size);
  for (int64_t i = 0; i < columns; ++i) {
    double *row = inverse.row(i);
    std::fill(found.begin() + i, found.end(), 0.0);
    for (int64_t k = i; k < columns; ++k) {
      const double *factors = by.row(k);
      for (int64_t j = k; j < columns; ++j)
        found[size_t(j)] += row[k] * factors[j];
    }
    std::copy(found.begin() + i, found.end(), row + i);
  }
}

} // namespace weft
