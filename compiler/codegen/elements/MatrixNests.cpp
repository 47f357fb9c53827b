//===- MatrixNests.cpp - factorisation and solving ------------------------===//
//
// In every matrix of the batch a step reads results of earlier steps:
//
//   %l = weft.cholesky %a               for j in n
//                                         l[j,j] = sqrt(a[j,j] - sum_k<j |l[j,k]|^2)
//                                         for i in (j, n)
//                                           l[i,j] = (a[i,j] - sum_k<j l[i,k] conj(l[j,k])) / l[j,j]
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft::elements {

namespace {
/// Loops over the batch, and the last two dimensions in it. With `flipped` the
/// two are exchanged.
struct MatrixNest {
  ElementEmitter &e;
  RankedTensorType type;
  Type elementType;
  Value pointer;
  bool flipped;
  SmallVector<Value> batch;

  MatrixNest(ElementEmitter &e [[clang::lifetimebound]], Value result,
             bool flipped)
      : e(e), type(typeOf(result)), elementType(type.getElementType()),
        pointer(e.memoryOf(result)), flipped(flipped) {
    for (auto [dim, size] : llvm::enumerate(type.getShape().drop_back(2)))
      batch.push_back(e.openSharedLoop(dim, size));
  }
  int64_t rows() const { return type.getShape().take_back(2)[flipped ? 1 : 0]; }
  int64_t columns() const {
    return type.getShape().take_back(2)[flipped ? 0 : 1];
  }
  ElementIndex at(Value row, Value column, bool turned) const {
    SmallVector<Value> dims(batch);
    dims.append({turned ? column : row, turned ? row : column});
    return e.makeIndex(dims, e.depth());
  }
  Value load(Value row, Value column) const {
    return e.load(pointer, elementType, linear(row, column));
  }
  void store(Value value, Value row, Value column) const {
    e.store(value, pointer, elementType, linear(row, column));
  }
  Value linear(Value row, Value column) const {
    return e.linearIndex(type.getShape(), at(row, column, flipped));
  }
  /// An element of an operand of the op on one matrix.
  FailureOr<Value> operand(Value tensor, Value row, Value column,
                           bool turned) const {
    FailureOr<Value> value = e.element(tensor, at(row, column, turned));
    e.enterDepth(e.depth());
    return value;
  }
  /// Opens the loop over columns of the result (flipped: its rows), which are
  /// independent.
  Value openColumns() const {
    unsigned outer = e.depth();
    Value column =
        e.openSharedLoop(type.getRank() - (flipped ? 2 : 1), columns());
    if (e.depth() > outer && !flipped)
      e.markParallel();
    return column;
  }
  bool isComplex() const { return isa<ComplexType>(elementType); }
  ComplexEmitter complex() const { return {e.builder, e.loc}; }
  Value conj(Value x) const { return isComplex() ? complex().conj(x) : x; }
  Value subtract(Value x, Value y) const {
    return isComplex()
               ? complex().subtract(x, y)
               : arith::SubFOp::create(e.builder, e.loc, x, y).getResult();
  }
  Value divide(Value x, Value y) const {
    return isComplex()
               ? complex().divide(x, y)
               : arith::DivFOp::create(e.builder, e.loc, x, y).getResult();
  }
  /// The square root of a number that is real in exact arithmetic.
  Value squareRoot(Value x) const {
    if (!isComplex())
      return math::SqrtOp::create(e.builder, e.loc, x);
    Value re = math::SqrtOp::create(e.builder, e.loc, complex().re(x));
    return complex().make(re, zeroOf(e, re.getType()));
  }
  Value multiply(Value x, Value y) const {
    return emitProduct(e, elementType, x, y);
  }
  /// The sum of terms over k in [begin, end).
  FailureOr<Value>
  sum(Value begin, Value end,
      llvm::function_ref<FailureOr<Value>(Value k)> term) const {
    auto sums = e.loop(
        begin, end, e.constant(1), zeroOf(e, elementType),
        [&](Value k, ValueRange sum) -> FailureOr<SmallVector<Value>> {
          FailureOr<Value> value = term(k);
          if (failed(value))
            return failure();
          return SmallVector<Value>{emitCombine(
              e.builder, e.loc, ReduceKind::Sum, elementType, sum[0], *value)};
        });
    return failed(sums) ? FailureOr<Value>(failure()) : sums->front();
  }
};
} // namespace

LogicalResult emitCholesky(ElementEmitter &e, CholeskyOp op) {
  MatrixNest m(e, op.getResult(), op.getUpper());
  Value n = e.constant(m.rows()), first = e.constant(0),
        j = e.openLoop(m.rows());
  // The remainder a[row,j] minus the contributions of the columns before j.
  auto rest = [&](Value row) -> FailureOr<Value> {
    FailureOr<Value> products =
        m.sum(first, j, [&](Value k) -> FailureOr<Value> {
          return m.multiply(m.load(row, k), m.conj(m.load(j, k)));
        });
    FailureOr<Value> a = m.operand(op.getInput(), row, j, m.flipped);
    if (failed(a))
      return failure();
    return m.subtract(*a, *products);
  };
  FailureOr<Value> square = rest(j);
  if (failed(square))
    return failure();
  Value diagonal = m.squareRoot(*square);
  m.store(diagonal, j, j);
  Value i = e.openLoop(e.add(j, e.constant(1)), n);
  FailureOr<Value> below = rest(i);
  if (failed(below))
    return failure();
  m.store(m.divide(*below, diagonal), i, j);
  m.store(zeroOf(e, m.elementType), j, i);
  return success();
}

namespace {
/// Solves op(A) x = b from the first row if op(A) is lower triangular, from the
/// last row if it is upper. With `right`, columns of x are rows of the result.
struct SolveNest {
  mutable TriangularSolveOp op; ///< mutable, as accessors of ops are not const
  MatrixNest x;
  bool turned, lower;

  SolveNest(ElementEmitter &e, TriangularSolveOp op)
      : op(op), x(e, op.getResult(), op.getRight()),
        turned(op.getRight() != op.getTransposed()),
        lower(op.getLower() != turned) {}

  Value openRows() const {
    Value step = x.e.openLoop(x.rows());
    return lower ? step
                 : arith::SubIOp::create(x.e.builder, x.e.loc,
                                         x.e.constant(x.rows() - 1), step)
                       .getResult();
  }
  /// The rows that are solved before row i.
  std::pair<Value, Value> before(Value i) const {
    return lower
               ? std::pair(x.e.constant(0), i)
               : std::pair(x.e.add(i, x.e.constant(1)), x.e.constant(x.rows()));
  }
  FailureOr<Value> matrix(Value row, Value column) const {
    FailureOr<Value> value = x.operand(op.getMatrix(), row, column, turned);
    return succeeded(value) && op.getConjugated() ? x.conj(*value) : value;
  }
  FailureOr<Value> rhs(Value row, Value column) const {
    return x.operand(op.getRhs(), row, column, x.flipped);
  }
};
} // namespace

/// Solves column by column: in memory the columns of x follow each other.
static LogicalResult emitColumns(ElementEmitter &e, const SolveNest &solve) {
  const MatrixNest &x = solve.x;
  Value column = x.openColumns(), i = solve.openRows();
  auto [begin, end] = solve.before(i);
  FailureOr<Value> known = x.sum(begin, end, [&](Value k) -> FailureOr<Value> {
    FailureOr<Value> a = solve.matrix(i, k);
    return failed(a) ? a : x.multiply(*a, x.load(k, column));
  });
  FailureOr<Value> b = failed(known) ? known : solve.rhs(i, column);
  if (failed(b))
    return failure();
  Value rest = x.subtract(*b, *known);
  if (!solve.op.getUnitDiagonal()) {
    FailureOr<Value> diagonal = solve.matrix(i, i);
    if (failed(diagonal))
      return failure();
    rest = x.divide(rest, *diagonal);
  }
  x.store(rest, i, column);
  return success();
}

/// Solves all columns at once: in memory the rows of x follow each other.
static LogicalResult emitRows(ElementEmitter &e, const SolveNest &solve) {
  const MatrixNest &x = solve.x;
  Value i = solve.openRows();
  unsigned outer = e.depth();
  auto [begin, end] = solve.before(i);
  Value column = x.openColumns();
  FailureOr<Value> b = solve.rhs(i, column);
  if (failed(b))
    return failure();
  x.store(*b, i, column);
  e.closeLoops(outer);
  Value k = e.openLoop(begin, end);
  FailureOr<Value> a = solve.matrix(i, k);
  if (failed(a))
    return failure();
  column = x.openColumns();
  x.store(x.subtract(x.load(i, column), x.multiply(*a, x.load(k, column))), i,
          column);
  e.closeLoops(outer);
  if (solve.op.getUnitDiagonal())
    return success();
  FailureOr<Value> diagonal = solve.matrix(i, i);
  if (failed(diagonal))
    return failure();
  column = x.openColumns();
  x.store(x.divide(x.load(i, column), *diagonal), i, column);
  return success();
}

LogicalResult emitTriangularSolve(ElementEmitter &e, TriangularSolveOp op) {
  SolveNest nest(e, op);
  return nest.x.flipped ? emitColumns(e, nest) : emitRows(e, nest);
}

} // namespace weft::elements
