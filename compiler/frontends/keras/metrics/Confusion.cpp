//===- Confusion.cpp - right and wrong at thresholds ----------------------===//

#include "weft/compiler/frontends/keras/metrics/Confusion.h"
#include "weft/compiler/frontends/keras/losses/Losses.h"

#include "weft/dialects/weft/ops/ScanOps.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The numbers along dimension 0, broadcast to a shape.
static Tensor alongFirst(Tensors &t, const std::vector<double> &numbers,
                         ArrayRef<int64_t> shape) {
  std::vector<float> data(numbers.begin(), numbers.end());
  return t.make<BroadcastOp>(t.constant(data, {int64_t(data.size())}), shape,
                             ArrayRef<int64_t>{0});
}

/// Whether each prediction is above each threshold; dimension 0 has the
/// thresholds.
static Tensor positives(Tensors &t, Tensor prediction,
                        const Thresholds &thresholds) {
  int64_t count = int64_t(thresholds.values.size());
  SmallVector<int64_t> shape = {count}, dims;
  for (int64_t dim = 0; dim < t.rank(prediction); ++dim) {
    shape.push_back(t.size(prediction, dim));
    dims.push_back(dim + 1);
  }
  auto spread = [&](Tensor x) { return t.make<BroadcastOp>(x, shape, dims); };
  if (!thresholds.areEven)
    return spread(prediction) > alongFirst(t, thresholds.values, shape);
  Tensor inside = min(max(prediction, 0), 1);
  Tensor bucket = ceil(inside * double(count - 1)) + -1.0;
  if (thresholds.takeAll)
    bucket = max(bucket, 0);
  std::vector<double> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = double(i);
  return spread(bucket) >= alongFirst(t, numbers, shape);
}

Confusion weft::keras::confusion(Tensors &t, const MetricInputs &in,
                                 const Thresholds &thresholds) {
  Tensor isTrue = t.toFloat(in.label != 0);
  Tensor isFalse = 1.0 - isTrue;
  if (in.weight) {
    Tensor weight = weightsLike(t, in.weight, isTrue);
    isTrue = isTrue * weight;
    isFalse = isFalse * weight;
  }
  Tensor above = t.toFloat(positives(t, in.prediction, thresholds));
  int64_t rank = t.rank(isTrue), kept = thresholds.byLabel ? 1 : 0;
  SmallVector<int64_t> dims, summed;
  for (int64_t dim = 1; dim <= rank; ++dim) {
    dims.push_back(dim);
    if (dim <= rank - kept)
      summed.push_back(dim);
  }
  auto counted = [&](Tensor weight) {
    Tensor each = t.make<BroadcastOp>(weight, t.shape(above), dims);
    return t.reduce(ReduceKind::Sum, above * each, summed);
  };
  auto others = [&](Tensor weight, Tensor counts) {
    SmallVector<int64_t> every;
    for (int64_t dim : summed)
      every.push_back(dim - 1);
    Tensor total = t.reduce(ReduceKind::Sum, weight, every);
    return t.spread(total, counts, {0}) - counts;
  };
  Tensor right = counted(isTrue), wrong = counted(isFalse);
  return {right, wrong, others(isFalse, wrong), others(isTrue, right)};
}

/// The k largest predictions; the others become a number far below all
/// thresholds.
static Tensor largest(Tensors &t, Tensor prediction, int64_t k) {
  int64_t last = t.last(prediction), classes = t.size(prediction, -1);
  SmallVector<int64_t> shape(t.shape(prediction)), wide;
  shape[last] = std::min(k, classes);
  auto top = TopKOp::create(
      t.builder, t.loc, tensorType(prediction).clone(shape),
      tensorType(prediction).clone(shape).clone(t.builder.getI32Type()),
      prediction, uint64_t(last));
  wide = shape;
  wide.push_back(classes);
  Tensor hot = t.oneHot(top.getPositions(),
                        t.splat(0, tensorType(prediction).clone(wide)));
  Tensor isTop = t.reduce(ReduceKind::Sum, hot, {last});
  return prediction * isTop + (1.0 - isTop) * -1e10;
}

MetricInputs ClassMetric::chosen(Tensors &t, MetricInputs in) const {
  if (topK)
    in.prediction = largest(t, in.prediction, *topK);
  if (classId) {
    in.label = t.slice(in.label, -1, *classId, *classId + 1);
    in.prediction = t.slice(in.prediction, -1, *classId, *classId + 1);
  }
  return in;
}

std::string ClassMetric::complaint(ArrayRef<int64_t> sample) const {
  if (classId && sample.empty())
    return "needs one prediction for each class for \"class_id\"; leave it out";
  // Samples of a single prediction have no limit: Keras ranks them over the
  // batch.
  if (topK && !sample.empty() && *topK > sample.back())
    return "has \"top_k\" " + std::to_string(*topK) + " of " +
           std::to_string(sample.back()) + " classes; choose a smaller one";
  if (classId && *classId >= sample.back())
    return "has \"class_id\" " + std::to_string(*classId) +
           ", the predictions have " + std::to_string(sample.back()) +
           " classes, from 0 on; choose one of them";
  return "";
}

Thresholds weft::keras::levels(const std::vector<double> &given,
                               double without) {
  Thresholds out{given.empty() ? std::vector{without} : given};
  size_t count = out.values.size();
  out.areEven = count > 2;
  for (size_t i = 0; i < count && out.areEven; ++i)
    out.areEven = std::abs(out.values[i] - double(i) / double(count - 1)) <=
                  kEpsilon + 1e-5 * double(i) / double(count - 1);
  return out;
}

void weft::keras::thresholdOption(Options &o, std::vector<double> &thresholds) {
  o.numbers("thresholds", thresholds);
  for (double level : thresholds)
    o.check(level >= 0 && level <= 1,
            "\"thresholds\" must lie between 0 and 1");
}
