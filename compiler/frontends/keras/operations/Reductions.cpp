//===- Reductions.cpp - sums, means and the like along axes ---------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"
#include "weft/dialects/weft/ops/ScanOps.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

using Reduce = Tensor (*)(Tensors &, Tensor, ArrayRef<int64_t>);

/// Keeps reduced dimensions as sizes of 1, if the call requests it.
static Tensor finished(OperationCall &a, Tensor reduced, Tensor x,
                       ArrayRef<int64_t> dims) {
  return a.flag("keepdims") && !dims.empty() ? a.t.kept(reduced, x, dims)
                                             : reduced;
}
static OperationRow reduction(const char *name, Reduce reduce) {
  return operation(name, {"x"}, {{"axis"}, {"keepdims", "false"}},
                   [reduce](OperationCall &a) {
                     Tensor x = a.tensor("x");
                     SmallVector<int64_t> dims = a.dims("axis", x);
                     return finished(a, reduce(a.t, x, dims), x, dims);
                   });
}

/// The operand of a sum: integers of less than 32 bits are widened to them.
static Tensor summable(Tensors &t, Tensor x) {
  auto type = dyn_cast<IntegerType>(elementOf(x));
  if (!type || type.getWidth() >= 32)
    return x;
  return type.isUnsigned()
             ? castTo(t, x, t.builder.getIntegerType(32, /*isSigned=*/false))
             : t.toInteger(x);
}
static Tensor sum(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  return t.reduce(ReduceKind::Sum, summable(t, x), dims);
}
static Tensor product(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  return t.reduce(ReduceKind::Prod, summable(t, x), dims);
}
static Tensor mean(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  Type type = isFloat(x) ? elementOf(x) : t.builder.getF32Type();
  return castTo(t, t.mean(t.toFloat(x), dims), type);
}
static Tensor variance(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  Type type = isFloat(x) ? elementOf(x) : t.builder.getF32Type();
  Tensor wide = t.toFloat(x);
  return castTo(t, t.variance(wide, t.mean(wide, dims), dims), type);
}
static Tensor deviation(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  return sqrt(variance(t, x, dims));
}
template <ReduceKind kind>
static Tensor extreme(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  return t.reduce(kind, x, dims);
}
static Tensor range(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  return t.reduce(ReduceKind::Max, x, dims) -
         t.reduce(ReduceKind::Min, x, dims);
}
template <ReduceKind kind>
static Tensor truth(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  return t.reduce(kind, castTo(t, x, t.builder.getI1Type()), dims);
}
/// log(sum(e^(x - max))) + max, where max is finite.
static Tensor logSumExp(Tensors &t, Tensor x, ArrayRef<int64_t> dims) {
  x = asFloats(t, x);
  Tensor largest = t.reduce(ReduceKind::Max, x, dims);
  largest = select(t.isFinite(largest), largest, 0);
  largest = t.make<StopGradientOp>(largest);
  Tensor raised = exp(x - t.spread(largest, x, dims));
  return log(t.reduce(ReduceKind::Sum, raised, dims)) + largest;
}

/// The largest or smallest element along dimensions; `initial`, if given,
/// counts as one more element.
template <class Op, ReduceKind kind>
static Tensor withInitial(OperationCall &a) {
  Tensor x = a.tensor("x");
  SmallVector<int64_t> dims = a.dims("axis", x);
  Tensor out = finished(a, a.t.reduce(kind, x, dims), x, dims);
  return a.given("initial")
             ? a.t.make<Op>(out, a.t.splat(a.number("initial"), out))
             : out;
}
static Tensor countNonzero(OperationCall &a) {
  Tensor x = a.tensor("x");
  Tensor isOther = castTo(a.t, x, a.t.builder.getI1Type());
  return a.t.reduce(ReduceKind::Sum, a.t.toInteger(isOther), a.dims("axis", x));
}
static Tensor productAs(OperationCall &a) {
  Tensor x = a.cast(a.tensor("x"), "dtype");
  SmallVector<int64_t> dims = a.dims("axis", x);
  return finished(a, product(a.t, x, dims), x, dims);
}
static Tensor average(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  SmallVector<int64_t> dims = a.dims("axis", x);
  if (!a.given("weights"))
    return t.mean(x, dims);
  Tensor weights = castTo(t, a.tensor("weights"), elementOf(x));
  if (t.rank(weights) == 1 && t.rank(x) != 1) {
    if (!a.check(dims.size() == 1 && t.size(weights, 0) == t.size(x, dims[0]),
                 "\"weights\" of shape " + shapeText(t.shape(weights)) +
                     " do not lie along one axis of " + shapeText(t.shape(x))))
      return x;
    weights = t.along(weights, x, dims[0]);
  }
  if (!a.check(t.shape(weights) == t.shape(x),
               "\"weights\" have the shape " + shapeText(t.shape(weights)) +
                   ", the values " + shapeText(t.shape(x))))
    return x;
  Tensor total = t.reduce(ReduceKind::Sum, weights, dims);
  return t.reduce(ReduceKind::Sum, x * weights, dims) / total;
}

/// The position of the largest or smallest element along one axis, or in the
/// flat tensor.
template <class Op> static Tensor position(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.tensor("x");
  int64_t dim = 0, rank = t.rank(x);
  Tensor from = asNumbers(t, x);
  if (a.given("axis"))
    dim = a.dim("axis", rank);
  else
    from = t.reshape(from,
                     {std::accumulate(t.shape(x).begin(), t.shape(x).end(),
                                      int64_t(1), std::multiplies<int64_t>())});
  if (!a.check(t.rank(from) > 0, "takes no scalar"))
    return x;
  SmallVector<int64_t> shape(t.shape(from));
  shape.erase(shape.begin() + dim);
  Tensor out = t.make<Op>(RankedTensorType::get(shape, t.builder.getI32Type()),
                          from, uint64_t(dim));
  if (!a.flag("keepdims"))
    return out;
  SmallVector<int64_t> kept(t.shape(x));
  if (a.given("axis"))
    kept[dim] = 1;
  else
    std::fill(kept.begin(), kept.end(), 1);
  return t.reshape(out, kept);
}

static OperationRow positions(const char *name,
                              Tensor (*build)(OperationCall &)) {
  return operation(name, {"x"}, {{"axis"}, {"keepdims", "false"}}, build);
}

std::vector<OperationRow> weft::keras::reductionOperations() {
  return {
      reduction("All", truth<ReduceKind::And>),
      reduction("Amax", extreme<ReduceKind::Max>),
      reduction("Amin", extreme<ReduceKind::Min>),
      reduction("Any", truth<ReduceKind::Or>),
      positions("Argmax", position<ArgMaxOp>),
      positions("Argmin", position<ArgMinOp>),
      operation("Average", {"x", "weights"}, {{"axis"}}, average),
      operation("CountNonzero", {"x"}, {{"axis"}}, countNonzero),
      reduction("Logsumexp", logSumExp),
      operation("Max", {"x"}, {{"axis"}, {"keepdims", "false"}, {"initial"}},
                withInitial<MaxOp, ReduceKind::Max>),
      reduction("Mean", mean),
      operation("Min", {"x"}, {{"axis"}, {"keepdims", "false"}, {"initial"}},
                withInitial<MinOp, ReduceKind::Min>),
      operation("Prod", {"x"}, {{"axis"}, {"keepdims", "false"}, {"dtype"}},
                productAs),
      reduction("Ptp", range),
      reduction("Std", deviation),
      reduction("Sum", sum),
      reduction("Var", variance)};
}
