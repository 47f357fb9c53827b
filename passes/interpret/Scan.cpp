//===- Scan.cpp - the meaning of cumulative ops and orders ----------------===//

#include "weft/dialects/weft/ops/ScanOps.h"
#include "weft/passes/interpret/Extremes.h"
#include "weft/passes/interpret/Meanings.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace weft {

namespace {

/// Row-major positions along one dimension, for every index of the other
/// dimensions.
struct Rows {
  std::vector<int64_t> first;
  int64_t stride, size;

  Rows(ArrayRef<int64_t> shape, int64_t dim) : size(shape[dim]) {
    SmallVector<int64_t, 4> strides = stridesOf(shape);
    stride = strides[dim];
    SmallVector<int64_t> others(shape);
    others[dim] = 1;
    first = offsets(others, strides);
  }
  int64_t at(size_t row, int64_t i) const { return first[row] + i * stride; }
};

/// Whether x is less than y in the order of sorts: NaN is the largest; +0 and
/// -0 are equal.
bool isLess(const Tensor &x, int64_t i, int64_t j) {
  if (x.isFloat()) {
    double a = x.real(i), b = x.real(j);
    return a < b || (!std::isnan(a) && std::isnan(b));
  }
  if (x.isUnsigned())
    return static_cast<uint64_t>(x.integer(i)) <
           static_cast<uint64_t>(x.integer(j));
  return x.integer(i) < x.integer(j);
}

double logSumExp(double a, double b) {
  double larger = std::max(a, b);
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  if (std::isinf(larger))
    return larger;
  return larger + std::log1p(std::exp(-std::fabs(a - b)));
}

/// Combines two elements in double, in which float sums, products and
/// logarithms are kept along a row.
double combineReals(ScanKind kind, double a, double b) {
  switch (kind) {
  case ScanKind::Sum:
    return a + b;
  case ScanKind::Prod:
    return a * b;
  case ScanKind::Max:
    return maximum(a, b);
  case ScanKind::Min:
    return minimum(a, b);
  case ScanKind::LogSumExp:
    return logSumExp(a, b);
  }
  return 0;
}

Tensor cumulative(CumulativeOp op, const Tensor &x) {
  constexpr ReduceKind kinds[] = {ReduceKind::Sum, ReduceKind::Prod,
                                  ReduceKind::Max, ReduceKind::Min,
                                  ReduceKind::Max};
  unsigned kind = static_cast<unsigned>(op.getKind());
  Tensor result(x.getType());
  Rows rows(x.getShape(), op.getDim());
  for (size_t row = 0; row < rows.first.size(); ++row) {
    Tensor integer = neutralTensor(
        kinds[kind], RankedTensorType::get({}, x.getElementType()));
    double real = x.isFloat() ? integer.real(0) : 0;
    for (int64_t k = 0; k < rows.size; ++k) {
      int64_t at = rows.at(row, op.getReverse() ? rows.size - 1 - k : k);
      auto put = [&] {
        if (x.isFloat())
          result.setReal(at, real);
        else
          result.copy(at, integer, 0);
      };
      if (op.getExclusive())
        put();
      if (x.isFloat())
        real = combineReals(op.getKind(), real, x.real(at));
      else
        combineInto(kinds[kind], integer, 0, x, at);
      if (!op.getExclusive())
        put();
    }
  }
  return result;
}

/// Positions in a row sorted by descending value if `largest`, else by
/// ascending value; NaN comes first in both orders.
std::vector<int64_t> orderOf(const Tensor &x, const Rows &rows, size_t row,
                             bool largest) {
  std::vector<int64_t> order(rows.size);
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](int64_t i, int64_t j) {
    int64_t a = rows.at(row, i), b = rows.at(row, j);
    bool nanA = x.isFloat() && std::isnan(x.real(a));
    bool nanB = x.isFloat() && std::isnan(x.real(b));
    if (nanA != nanB)
      return nanA;
    return largest ? isLess(x, b, a) : isLess(x, a, b);
  });
  return order;
}

Tensor argument(Operation *op, const Tensor &x, int64_t dim, bool largest) {
  Tensor result(cast<RankedTensorType>(op->getResult(0).getType()));
  Rows rows(x.getShape(), dim);
  for (size_t row = 0; row < rows.first.size(); ++row)
    result.setInteger(row, orderOf(x, rows, row, largest).front());
  return result;
}

Tensors topK(TopKOp op, const Tensor &x) {
  Tensor values(cast<RankedTensorType>(op.getValues().getType()));
  Tensor positions(cast<RankedTensorType>(op.getPositions().getType()));
  Rows rows(x.getShape(), op.getDim()), out(values.getShape(), op.getDim());
  for (size_t row = 0; row < rows.first.size(); ++row) {
    std::vector<int64_t> order = orderOf(x, rows, row, /*largest=*/true);
    for (int64_t k = 0; k < out.size; ++k) {
      values.copy(out.at(row, k), x, rows.at(row, order[k]));
      positions.setInteger(out.at(row, k), order[k]);
    }
  }
  return {values, positions};
}

Tensors sort(SortOp op, Operands in) {
  Tensors results;
  for (const Tensor *tensor : in)
    results.push_back(Tensor(tensor->getType()));
  Rows rows(in[0]->getShape(), op.getDim());
  for (size_t row = 0; row < rows.first.size(); ++row) {
    std::vector<int64_t> order(rows.size);
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](int64_t i, int64_t j) {
      int64_t a = rows.at(row, i), b = rows.at(row, j);
      if (op.getDescending())
        std::swap(a, b);
      for (const Tensor *key : in.take_front(op.getKeys()))
        if (isLess(*key, a, b) != isLess(*key, b, a))
          return isLess(*key, a, b);
      return false;
    });
    for (size_t tensor = 0; tensor < in.size(); ++tensor)
      for (int64_t k = 0; k < rows.size; ++k)
        results[tensor].copy(rows.at(row, k), *in[tensor],
                             rows.at(row, order[k]));
  }
  return results;
}

} // namespace

std::optional<Tensors> meaningOfScan(Operation *op, Operands in) {
  if (auto cumulativeOp = dyn_cast<CumulativeOp>(op))
    return Tensors{cumulative(cumulativeOp, *in[0])};
  if (auto largest = dyn_cast<ArgMaxOp>(op))
    return Tensors{argument(op, *in[0], largest.getDim(), true)};
  if (auto smallest = dyn_cast<ArgMinOp>(op))
    return Tensors{argument(op, *in[0], smallest.getDim(), false)};
  if (auto topKOp = dyn_cast<TopKOp>(op))
    return topK(topKOp, *in[0]);
  if (auto sortOp = dyn_cast<SortOp>(op))
    return sort(sortOp, in);
  return std::nullopt;
}

} // namespace weft
