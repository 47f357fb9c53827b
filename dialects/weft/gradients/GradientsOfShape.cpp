//===- GradientsOfShape.cpp - derivatives of moves, reductions, dots ------===//

#include "weft/dialects/weft/gradients/GradientBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}

namespace {

/// Transposes so that dimension k of `value` becomes dimension target[k].
Value moveDims(OpBuilder &builder, Location loc, Value value,
               ArrayRef<int64_t> target) {
  SmallVector<int64_t> permutation(target.size());
  bool identity = true;
  for (auto [k, dim] : llvm::enumerate(target)) {
    permutation[dim] = k;
    identity &= dim == static_cast<int64_t>(k);
  }
  if (identity)
    return value;
  return TransposeOp::create(builder, loc, value, permutation);
}

/// The dims of `b` in ascending order, each replaced by its partner in `a`:
/// contract [1, 2] x [2, 0] gives 2, 1.
SmallVector<int64_t> partners(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto order = llvm::to_vector(llvm::seq<size_t>(0, b.size()));
  llvm::sort(order, [&](size_t i, size_t j) { return b[i] < b[j]; });
  SmallVector<int64_t> result;
  for (size_t i : order)
    result.push_back(a[i]);
  return result;
}

/// The product of all other elements of each element's reduction, in the
/// result's element type. It is exact with zeros: with one 0 only the 0 itself
/// has a nonzero product.
Tensor productOfOthers(const GradientBuilder &g, ReduceOp op) {
  Tensor x = converted(g(op.getInput()), getElementTypeOrSelf(op.getResult()));
  ArrayRef<int64_t> dims = op.getDims();
  SmallVector<int64_t> kept = otherDims(shapeOf(x).size(), dims);
  auto spread = [&](ReduceKind kind, Tensor value) {
    Value reduced = g.make<ReduceOp>(kind, value, dims);
    return g.make<BroadcastOp>(reduced, shapeOf(x), kept);
  };
  Tensor zero = x.number(0), one = x.number(1), isZero = x == zero;
  Tensor zeros = spread(ReduceKind::Sum, select(isZero, one, zero));
  Tensor nonzero = select(isZero, one, x);
  Tensor product = spread(ReduceKind::Prod, nonzero);
  Tensor none = zeros == zero, single = zeros == one;
  return select(isZero, select(single, product, zero),
                select(none, product / nonzero, zero));
}

} // namespace

LogicalResult BroadcastOp::buildGradient(OpGradients &g) {
  Value grad = g.results[0];
  SmallVector<int64_t> repeated = otherDims(shapeOf(grad).size(), getDims());
  g.operands[0] = repeated.empty()
                      ? grad
                      : ReduceOp::create(g.builder, getLoc(), ReduceKind::Sum,
                                         grad, repeated)
                            .getResult();
  return success();
}

LogicalResult TransposeOp::buildGradient(OpGradients &g) {
  // Result dimension i is input dimension permutation[i], so the gradient's
  // dimension i is moved there.
  g.operands[0] = moveDims(g.builder, getLoc(), g.results[0], getPermutation());
  return success();
}

LogicalResult ReshapeOp::buildGradient(OpGradients &g) {
  g.operands[0] =
      ReshapeOp::create(g.builder, getLoc(), g.results[0], shapeOf(getInput()));
  return success();
}

LogicalResult ReduceOp::buildGradient(OpGradients &g) {
  Value x = getInput();
  SmallVector<int64_t> kept = otherDims(shapeOf(x).size(), getDims());
  auto spread = [&](Value value) {
    return g.make<BroadcastOp>(value, shapeOf(x), kept);
  };
  switch (getKind()) {
  case ReduceKind::Sum:
    g.operands[0] =
        spread(converted(g.grad(), getElementTypeOrSelf(getInput())));
    return success();
  case ReduceKind::Max:
  case ReduceKind::Min: {
    // Elements of a tie share the gradient equally.
    Tensor ties = (g(x) == spread(getResult())).convert(g(x).elementType());
    Tensor count = g.make<ReduceOp>(ReduceKind::Sum, ties, getDims());
    g.operands[0] = spread(g.grad() / count) * ties;
    return success();
  }
  case ReduceKind::Prod:
    g.operands[0] = converted(spread(g.results[0]) * productOfOthers(g, *this),
                              getElementTypeOrSelf(getInput()));
    return success();
  case ReduceKind::And:
  case ReduceKind::Or: // For integers only, which have no derivative.
    break;
  }
  return failure();
}

// result[b, m, n] = sum over k of lhs[b, m, k] rhs[b, k, n], each operand's
// dimensions in any order:
//   dlhs[b, m, k] = sum over n of grad[b, m, n] rhs[b, k, n]
//   drhs[b, k, n] = sum over m of lhs[b, m, k] grad[b, m, n]
// Both sums are computed in the result's element type, as in
// jax.lax.dot_general, and rounded once.
LogicalResult DotOp::buildGradient(OpGradients &g) {
  Value grad = g.results[0];
  ArrayRef<int64_t> lhsBatch = getLhsBatch(), rhsBatch = getRhsBatch(),
                    lhsContract = getLhsContract(),
                    rhsContract = getRhsContract();
  auto free = [](Value value, ArrayRef<int64_t> batch,
                 ArrayRef<int64_t> contract) {
    SmallVector<int64_t> used(batch);
    llvm::append_range(used, contract);
    return otherDims(shapeOf(value).size(), used);
  };
  SmallVector<int64_t> m = free(getLhs(), lhsBatch, lhsContract);
  SmallVector<int64_t> n = free(getRhs(), rhsBatch, rhsContract);
  Type sums = getElementTypeOrSelf(getResult());
  int64_t b = lhsBatch.size();
  auto gradBatch = llvm::to_vector(llvm::seq<int64_t>(0, b));
  auto gradM = llvm::to_vector(llvm::seq<int64_t>(b, b + m.size()));
  auto gradN = llvm::to_vector(
      llvm::seq<int64_t>(b + m.size(), b + m.size() + n.size()));
  if (g.wanted[0]) {
    Value dot = DotOp::create(g.builder, getLoc(), grad, getRhs(), gradN, n,
                              gradBatch, rhsBatch, sums, getPrecision());
    SmallVector<int64_t> target(lhsBatch);
    llvm::append_range(target, m);
    llvm::append_range(target, partners(lhsContract, rhsContract));
    g.operands[0] =
        moveDims(g.builder, getLoc(),
                 converted(g(dot), getElementTypeOrSelf(getLhs())), target);
  }
  if (g.wanted[1]) {
    Value dot = DotOp::create(g.builder, getLoc(), getLhs(), grad, m, gradM,
                              lhsBatch, gradBatch, sums, getPrecision());
    SmallVector<int64_t> target(rhsBatch);
    llvm::append_range(target, partners(rhsContract, lhsContract));
    llvm::append_range(target, n);
    g.operands[1] =
        moveDims(g.builder, getLoc(),
                 converted(g(dot), getElementTypeOrSelf(getRhs())), target);
  }
  return success();
}

} // namespace weft
