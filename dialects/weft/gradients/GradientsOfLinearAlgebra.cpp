//===- GradientsOfLinearAlgebra.cpp - derivatives of factors and solutions ===//

#include "weft/dialects/weft/gradients/GradientBuilder.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

using namespace mlir;
using namespace weft;

namespace {
/// Builds products and triangles of the matrices in the last two dimensions.
struct MatrixBuilder {
  const GradientBuilder &g;

  /// x y, each transposed if its flag is set.
  Value product(Value x, bool xTransposed, Value y, bool yTransposed) const {
    int64_t rank = shapeOf(x).size();
    auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
    return DotOp::create(g.builder, g.loc, x, y,
                         {xTransposed ? rank - 2 : rank - 1},
                         {yTransposed ? rank - 1 : rank - 2}, batch, batch);
  }
  Value transposed(Value x) const {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(x).size()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return TransposeOp::create(g.builder, g.loc, x, order);
  }
  /// x where row `kind` column, else `other`: GE is the lower half with the
  /// diagonal.
  Value where(CompareKind kind, Value x, Value other) const {
    ArrayRef<int64_t> shape = shapeOf(x);
    int64_t rank = shape.size();
    Type i32 = g.builder.getI32Type();
    Tensor rows = g.count(rank - 2, shape, i32);
    Tensor columns = g.count(rank - 1, shape, i32);
    return select(rows.compare(kind, columns), g(x), g(other));
  }
  Value triangle(CompareKind kind, Value x) const {
    return where(kind, x, g(x).number(0));
  }
};
} // namespace

// With S = tril(L^T dL), the diagonal halved, the gradient is L^-T S conj(L)^-1
// (Murray, "Differentiation of the Cholesky decomposition", 2016). An upper
// factor is the adjoint of the adjoint's lower factor.
LogicalResult CholeskyOp::buildGradient(OpGradients &g) {
  MatrixBuilder m{g};
  auto turned = [&](Value x) {
    return getUpper() ? Value(conj(g(m.transposed(x)))) : x;
  };
  bool isComplex = isa<ComplexType>(getElementTypeOrSelf(getResult()));
  Value l = turned(getResult()), grad = turned(g.results[0]);
  Value s = m.triangle(CompareKind::GE, m.product(l, true, grad, false));
  s = m.where(CompareKind::NE, s, g(s) * 0.5);
  Value left = TriangularSolveOp::create(
      g.builder, getLoc(), l, s, /*right=*/false, /*lower=*/true,
      /*unitDiagonal=*/false, /*transposed=*/true);
  Value both = TriangularSolveOp::create(
      g.builder, getLoc(), l, left, /*right=*/true, /*lower=*/true,
      /*unitDiagonal=*/false, /*transposed=*/false, isComplex);
  g.operands[0] = turned(both);
  return success();
}

// The gradient of x = op(A)^-1 b: db = op(A)^-T dx, and dA is -db x^T, or its
// transpose, restricted to the triangle that is read.
LogicalResult TriangularSolveOp::buildGradient(OpGradients &g) {
  MatrixBuilder m{g};
  Value rhs = TriangularSolveOp::create(
      g.builder, getLoc(), getMatrix(), g.results[0], getRight(), getLower(),
      getUnitDiagonal(), !getTransposed(), getConjugated());
  g.operands[1] = rhs;
  if (!g.wanted[0])
    return success();
  // The gradient of op(A) is -db x^T, with `right` -x^T db.
  Value x = getResult();
  Value first = getRight() ? x : rhs, second = getRight() ? rhs : x;
  if (getTransposed())
    std::swap(first, second);
  Value product = m.product(first, getRight(), second, !getRight());
  CompareKind half =
      getLower() ? (getUnitDiagonal() ? CompareKind::GT : CompareKind::GE)
                 : (getUnitDiagonal() ? CompareKind::LT : CompareKind::LE);
  Tensor grad = -g(m.triangle(half, product));
  g.operands[0] = getConjugated() ? conj(grad) : grad;
  return success();
}
