//===- Similarities.cpp - losses of angles, distances and overlaps --------===//

#include "weft/compiler/frontends/keras/losses/Losses.h"

#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Tensor weft::keras::normalized(Tensors &t, Tensor x,
                               llvm::ArrayRef<int64_t> dims) {
  Tensor root = rsqrt(t.reduce(ReduceKind::Sum, x * x, dims));
  return x * t.spread(min(root, 1 / kEpsilon), x, dims);
}

Tensor CosineSimilarity::values(Tensors &t, Tensor label,
                                Tensor prediction) const {
  int64_t dims[] = {t.last(prediction)};
  Tensor product = normalized(t, label, dims) * normalized(t, prediction, dims);
  return -t.reduce(ReduceKind::Sum, product, dims);
}

std::string Circle::complaint(llvm::ArrayRef<int64_t> sample) const {
  return sample.size() == 1 ? ""
                            : "needs one vector for each sample, predictions "
                              "have " +
                                  std::to_string(sample.size()) +
                                  " dimensions beside the batch; flatten them";
}

/// log(sum(e^x)) of each row, over the elements for which `counts` is true.
static Tensor logSumExp(Tensors &t, Tensor x, Tensor counts) {
  double least = -std::numeric_limits<double>::infinity();
  int64_t dims[] = {1};
  x = select(counts, x, least);
  Tensor largest = t.reduce(ReduceKind::Max, t.stopGradient(x), dims);
  Tensor hasAny = largest > least;
  largest = select(hasAny, largest, 0);
  Tensor raised = exp(x - t.spread(largest, x, dims));
  return log(t.reduce(ReduceKind::Sum, raised, dims)) + largest;
}

Tensor Circle::values(Tensors &t, Tensor label, Tensor prediction) const {
  Tensor product = t.make<DotOp>(prediction, prediction, ArrayRef<int64_t>{1},
                                 ArrayRef<int64_t>{1});
  Tensor distance = max(1.0 - product, 0);
  ArrayRef<int64_t> pairs = t.shape(distance);
  auto across = [&](int64_t dim) {
    return t.make<BroadcastOp>(label, pairs, ArrayRef<int64_t>{dim});
  };
  Tensor isSame = across(0) == across(1);
  Tensor isOther = ~isSame;
  if (removeDiagonal) {
    auto type = tensorType(distance).clone(t.builder.getI32Type());
    auto position = [&](int64_t dim) {
      return t.make<IotaOp>(type, t.builder.getI64IntegerAttr(dim), Tensor());
    };
    isSame = isSame & (position(0) != position(1));
  }
  // The max is differentiated, too, as in Keras; it keeps these weights
  // non-negative.
  Tensor near = max((distance + margin) * t.toFloat(isSame), 0);
  Tensor far = max((1 + margin - distance) * t.toFloat(isOther), 0);
  Tensor same = near * -gamma * (margin - distance);
  Tensor other = far * gamma * (1 - margin - distance);
  return t.softplus(logSumExp(t, same, isSame) + logSumExp(t, other, isOther));
}

Tensor Overlap::sum(Tensors &t, Tensor x) const {
  return axis.empty() ? t.sumAll(x)
                      : t.reduce(ReduceKind::Sum, x, t.dims(x, axis));
}

std::string Overlap::complaint(llvm::ArrayRef<int64_t> sample) const {
  int64_t rank = int64_t(sample.size()) + 1;
  std::vector<bool> seen(rank);
  size_t count = 0;
  for (int64_t given : axis) {
    int64_t dim = given < 0 ? given + rank : given;
    if (dim < 0 || dim >= rank || seen[dim])
      return "has \"axis\" " + std::to_string(given) + ", predictions have " +
             std::to_string(rank) +
             " dimensions; name each of them at most once";
    seen[dim] = true;
    ++count;
  }
  if (seen[0] && count != seen.size())
    return "has an \"axis\" of the batch, but not all; leave out 0, or leave "
           "\"axis\" at null";
  return "";
}

Tensor Dice::values(Tensors &t, Tensor label, Tensor prediction) const {
  Tensor both = sum(t, label * prediction) * 2;
  Tensor total = sum(t, label) + sum(t, prediction);
  return 1.0 - both / (total + kEpsilon);
}

Tensor Tversky::values(Tensors &t, Tensor label, Tensor prediction) const {
  Tensor both = sum(t, label * prediction);
  Tensor first = sum(t, (1.0 - prediction) * label);
  Tensor second = sum(t, prediction * (1.0 - label));
  Tensor total = both + first * alpha + second * beta;
  return 1.0 - both / (total + kEpsilon);
}
