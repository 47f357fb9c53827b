//===- Similarities.cpp - losses of angles, distances and overlaps --------===//

#include "weft/compiler/frontends/keras/losses/Losses.h"

#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Value weft::keras::normalized(Tensors &t, Value x,
                              llvm::ArrayRef<int64_t> dims) {
  Value root = t.make<RsqrtOp>(t.reduce(ReduceKind::Sum, t.mul(x, x), dims));
  return t.mul(x, t.spread(t.min(root, 1 / kEpsilon), x, dims));
}

Value CosineSimilarity::values(Tensors &t, Value label,
                               Value prediction) const {
  int64_t dims[] = {t.last(prediction)};
  Value product =
      t.mul(normalized(t, label, dims), normalized(t, prediction, dims));
  return t.neg(t.reduce(ReduceKind::Sum, product, dims));
}

std::string Circle::complaint(llvm::ArrayRef<int64_t> sample) const {
  return sample.size() == 1 ? ""
                            : "needs one vector for each sample, predictions "
                              "have " +
                                  std::to_string(sample.size()) +
                                  " dimensions beside the batch; flatten them";
}

/// log(sum(e^x)) of each row, over the elements for which `counts` is true.
static Value logSumExp(Tensors &t, Value x, Value counts) {
  double least = -std::numeric_limits<double>::infinity();
  int64_t dims[] = {1};
  x = t.select(counts, x, t.splat(least, x));
  Value largest = t.reduce(ReduceKind::Max, t.stopGradient(x), dims);
  Value hasAny = t.compare(CompareKind::GT, largest, least);
  largest = t.select(hasAny, largest, t.splat(0, largest));
  Value raised = t.make<ExpOp>(t.sub(x, t.spread(largest, x, dims)));
  return t.add(t.make<LogOp>(t.reduce(ReduceKind::Sum, raised, dims)), largest);
}

Value Circle::values(Tensors &t, Value label, Value prediction) const {
  Value product = t.make<DotOp>(prediction, prediction, ArrayRef<int64_t>{1},
                                ArrayRef<int64_t>{1});
  Value distance = t.max(t.sub(1.0, product), 0);
  ArrayRef<int64_t> pairs = t.shape(distance);
  auto across = [&](int64_t dim) {
    return t.make<BroadcastOp>(label, pairs, ArrayRef<int64_t>{dim});
  };
  Value isSame = t.compare(CompareKind::EQ, across(0), across(1));
  Value isOther = t.make<NotOp>(isSame);
  if (removeDiagonal) {
    auto type = tensorType(distance).clone(t.builder.getI32Type());
    auto position = [&](int64_t dim) {
      return t.make<IotaOp>(type, t.builder.getI64IntegerAttr(dim), Value());
    };
    isSame = t.make<AndOp>(
        isSame, t.compare(CompareKind::NE, position(0), position(1)));
  }
  // The max is differentiated, too, as in Keras; it keeps these weights
  // non-negative.
  Value near = t.max(t.mul(t.add(distance, margin), t.toFloat(isSame)), 0);
  Value far = t.max(t.mul(t.sub(1 + margin, distance), t.toFloat(isOther)), 0);
  Value same = t.mul(t.mul(near, -gamma), t.sub(margin, distance));
  Value other = t.mul(t.mul(far, gamma), t.sub(1 - margin, distance));
  return t.softplus(
      t.add(logSumExp(t, same, isSame), logSumExp(t, other, isOther)));
}

Value Overlap::sum(Tensors &t, Value x) const {
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

Value Dice::values(Tensors &t, Value label, Value prediction) const {
  Value both = t.mul(sum(t, t.mul(label, prediction)), 2);
  Value total = t.add(sum(t, label), sum(t, prediction));
  return t.sub(1.0, t.div(both, t.add(total, kEpsilon)));
}

Value Tversky::values(Tensors &t, Value label, Value prediction) const {
  Value both = sum(t, t.mul(label, prediction));
  Value first = sum(t, t.mul(t.sub(1.0, prediction), label));
  Value second = sum(t, t.mul(prediction, t.sub(1.0, label)));
  Value total = t.add(t.add(both, t.mul(first, alpha)), t.mul(second, beta));
  return t.sub(1.0, t.div(both, t.add(total, kEpsilon)));
}
