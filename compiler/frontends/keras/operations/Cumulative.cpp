//===- Cumulative.cpp - running sums, and orders along an axis ------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"
#include "weft/dialects/weft/ops/ScanOps.h"

#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static int64_t elementCount(Tensor x) {
  int64_t count = 1;
  for (int64_t size : Tensors::shape(x))
    count *= size;
  return count;
}

/// The tensor and the dimension to process; without an axis the flat tensor.
static std::pair<Tensor, int64_t> alongAxis(OperationCall &a, Tensor x) {
  if (!a.given("axis"))
    return {a.t.reshape(x, {elementCount(x)}), 0};
  if (!a.check(a.t.rank(x) > 0, "takes no scalar"))
    return {a.t.reshape(x, {1}), 0};
  return {x, a.dim("axis", a.t.rank(x))};
}

static OperationRow cumulative(const char *name, ScanKind kind) {
  return operation(name, {"x"}, {{"axis"}, {"dtype"}},
                   [kind](OperationCall &a) {
                     Tensor x = a.cast(a.tensor("x"), "dtype");
                     auto [along, dim] = alongAxis(a, asNumbers(a.t, x));
                     return a.t.make<CumulativeOp>(kind, along, dim);
                   });
}

/// Sorts the tensors by the first, along a dimension.
static SmallVector<Tensor> sorted(Tensors &t, ArrayRef<Tensor> tensors,
                                  int64_t dim) {
  SmallVector<Value> values = valuesOf(tensors);
  auto op =
      SortOp::create(t.builder, t.loc, ValueRange(values).getTypes(), values,
                     uint64_t(dim), /*keys=*/1, /*descending=*/false);
  return t(op.getResults());
}

static Tensor sort(OperationCall &a) {
  auto [x, dim] = alongAxis(a, a.tensor("x"));
  return sorted(a.t, {x}, dim).front();
}

static Tensor argSort(OperationCall &a) {
  auto [x, dim] = alongAxis(a, a.tensor("x"));
  auto type = tensorType(x).clone(a.t.builder.getI32Type());
  Tensor positions =
      a.t.make<IotaOp>(type, a.t.builder.getI64IntegerAttr(dim), Tensor());
  return sorted(a.t, {x, positions}, dim).back();
}

/// The middle element, or the mean of the two middle elements.
static Tensor median(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  SmallVector<int64_t> dims = a.dims("axis", x), order, shape;
  for (int64_t i = 0; i < t.rank(x); ++i)
    if (!llvm::is_contained(dims, i)) {
      order.push_back(i);
      shape.push_back(t.size(x, i));
    }
  order.append(dims);
  int64_t count = 1, dim = int64_t(shape.size());
  for (int64_t d : dims)
    count *= t.size(x, d);
  if (!a.check(count > 0, "has no elements in the middle of none"))
    return x;
  SmallVector<int64_t> rows = shape;
  rows.push_back(count);
  Tensor all = sorted(t, {t.reshape(t.transpose(x, order), rows)}, dim).front();
  Tensor low =
      t.reshape(t.slice(all, dim, (count - 1) / 2, (count - 1) / 2 + 1), shape);
  Tensor high = t.reshape(t.slice(all, dim, count / 2, count / 2 + 1), shape);
  Tensor out = count % 2 ? low : low * 0.5 + high * 0.5;
  // NaN counts as the largest number, and makes the median NaN.
  Tensor last = t.reshape(t.slice(all, dim, count - 1, count), shape);
  out = select(last != last, last, out);
  return a.flag("keepdims") ? t.kept(out, x, dims) : out;
}

static SmallVector<Tensor> topK(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.tensor("x");
  int64_t k = a.integer("k");
  if (!a.check(t.rank(x) > 0 && k > 0 && k <= t.size(x, -1),
               "\"k\" is " + std::to_string(k) +
                   "; it must lie between 1 and the last size of " +
                   shapeText(t.shape(x))))
    return {x, x};
  SmallVector<int64_t> shape(t.shape(x));
  shape.back() = k;
  auto type = tensorType(x).clone(shape);
  auto op =
      TopKOp::create(t.builder, t.loc, type, type.clone(t.builder.getI32Type()),
                     x, uint64_t(t.last(x)));
  return {t(op.getValues()), t(op.getPositions())};
}

/// a[i + 1] - a[i], n times.
static Tensor differences(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.tensor("a");
  int64_t n = a.integer("n");
  if (!a.check(t.rank(x) > 0, "takes no scalar"))
    return x;
  int64_t dim = a.dim("axis", t.rank(x));
  if (!a.check(n >= 0 && n < t.size(x, dim), "\"n\" " + std::to_string(n) +
                                                 " leaves nothing of " +
                                                 shapeText(t.shape(x))))
    return x;
  for (int64_t i = 0; i < n; ++i)
    x = t.slice(x, dim, 1, t.size(x, dim)) -
        t.slice(x, dim, 0, t.size(x, dim) - 1);
  return x;
}

std::vector<OperationRow> weft::keras::cumulativeOperations() {
  return {operation("Argsort", {"x"}, {{"axis", "-1"}}, argSort),
          cumulative("Cumprod", ScanKind::Prod),
          cumulative("Cumsum", ScanKind::Sum),
          operation("Diff", {"a"}, {{"n", "1"}, {"axis", "-1"}}, differences),
          operation("Median", {"x"}, {{"axis"}, {"keepdims", "false"}}, median),
          operation("Sort", {"x"}, {{"axis", "-1"}}, sort),
          {"TopK", {"x"}, {{"k"}, {"sorted", "true"}}, topK}};
}
