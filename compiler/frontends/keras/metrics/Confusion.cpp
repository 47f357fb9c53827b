//===- Confusion.cpp - right and wrong at thresholds ----------------------===//

#include "weft/compiler/frontends/keras/metrics/Confusion.h"
#include "weft/compiler/frontends/keras/losses/Losses.h"

#include "weft/dialects/weft/ops/ScanOps.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static constexpr Range kThresholds = {1, 1 << 20, "lie between 1 and 1048576"};

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

MetricInputs OfClass::chosen(Tensors &t, MetricInputs in) const {
  if (topK)
    in.prediction = largest(t, in.prediction, *topK);
  if (classId) {
    in.label = t.slice(in.label, -1, *classId, *classId + 1);
    in.prediction = t.slice(in.prediction, -1, *classId, *classId + 1);
  }
  return in;
}

std::string OfClass::complaint(ArrayRef<int64_t> sample) const {
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

/// The result as a scalar for one threshold, or a vector for several.
static Tensor eachLevel(Tensors &t, Tensor values) {
  return t.size(values, 0) == 1 ? t.reshape(values, {}) : values;
}

static void thresholdOption(Options &o, std::vector<double> &thresholds) {
  o.numbers("thresholds", thresholds);
  for (double level : thresholds)
    o.check(level >= 0 && level <= 1,
            "\"thresholds\" must lie between 0 and 1");
}

template <Count which> void CountOf<which>::ownOptions(Options &o) {
  thresholdOption(o, thresholds);
}

template <Count which>
MetricResult CountOf<which>::compute(Tensors &t, const MetricInputs &in,
                                     ArrayRef<Tensor> state) const {
  Confusion counts = confusion(t, in, levels(thresholds, 0.5));
  Tensor added = which == Count::TruePositives    ? counts.truePositives
                 : which == Count::FalsePositives ? counts.falsePositives
                 : which == Count::TrueNegatives  ? counts.trueNegatives
                                                  : counts.falseNegatives;
  Tensor total = state[0] + added;
  return {eachLevel(t, total), {total}};
}

template <bool ofPredicted> void Ratio<ofPredicted>::ownOptions(Options &o) {
  thresholdOption(o, thresholds);
  o.maybeInteger("top_k", topK, kPositive);
  classOption(o);
}

template <bool ofPredicted>
MetricResult Ratio<ofPredicted>::compute(Tensors &t, const MetricInputs &in,
                                         ArrayRef<Tensor> state) const {
  Confusion counts = confusion(t, chosen(t, in), at());
  Tensor right = state[0] + counts.truePositives;
  Tensor wrong =
      state[1] + (ofPredicted ? counts.falsePositives : counts.falseNegatives);
  Tensor result = quotient(t, right, right + wrong);
  return {eachLevel(t, result), {right, wrong}};
}

std::vector<MetricVariable> OfCurve::variables(ArrayRef<int64_t> sample) const {
  Thresholds at = thresholds();
  std::vector<int64_t> shape = {int64_t(at.values.size())};
  if (at.byLabel && !sample.empty())
    shape.push_back(sample.back());
  return {{"true_positives", shape},
          {"false_positives", shape},
          {"true_negatives", shape},
          {"false_negatives", shape}};
}

MetricResult OfCurve::compute(Tensors &t, const MetricInputs &in,
                              ArrayRef<Tensor> state) const {
  Confusion added = confusion(t, prepared(t, in), thresholds());
  Confusion counts{
      state[0] + added.truePositives, state[1] + added.falsePositives,
      state[2] + added.trueNegatives, state[3] + added.falseNegatives};
  return {result(t, counts),
          {counts.truePositives, counts.falsePositives, counts.trueNegatives,
           counts.falseNegatives}};
}

static const char *nameOf(Rate rate, bool isFirst) {
  static constexpr const char *names[] = {"recall", "specificity", "precision"};
  // SpecificityAtSensitivity names the recall "sensitivity".
  return rate == Rate::Recall && !isFirst ? "sensitivity" : names[int(rate)];
}

template <Rate best, Rate where>
void BestRate<best, where>::ownOptions(Options &o) {
  o.number(nameOf(where, best == Rate::Precision), value, kShare);
  o.integer("num_thresholds", count, kThresholds);
  classOption(o);
}

template <Rate best, Rate where>
Thresholds BestRate<best, where>::thresholds() const {
  if (count == 1)
    return {{0.5}};
  Thresholds out{{}, true};
  for (int64_t i = 0; i < count; ++i)
    out.values.push_back(double(i) / double(count - 1));
  return out;
}

static Tensor rateOf(Tensors &t, Rate rate, const Confusion &counts) {
  bool isSpecificity = rate == Rate::Specificity;
  Tensor right = isSpecificity ? counts.trueNegatives : counts.truePositives;
  Tensor wrong =
      rate == Rate::Recall ? counts.falseNegatives : counts.falsePositives;
  return quotient(t, right, right + wrong);
}

template <Rate best, Rate where>
Tensor BestRate<best, where>::result(Tensors &t,
                                     const Confusion &counts) const {
  Tensor reached = rateOf(t, where, counts) >= value;
  Tensor rates = rateOf(t, best, counts);
  Tensor found = select(reached, rates, 0);
  return max(t.reduce(ReduceKind::Max, found, {0}), 0);
}

void AUC::ownOptions(Options &o) {
  o.integer("num_thresholds", count, kThresholds);
  o.choice("curve", curve, {"ROC", "PR", "PRGAIN"});
  o.choice("summation_method", summation,
           {"interpolation", "minoring", "majoring"});
  o.flag("multi_label", multiLabel);
  o.maybeInteger("num_labels", labels, kPositive);
  o.refused("label_weights", "weights of labels");
  o.flag("from_logits", fromLogits);
  o.numbers("thresholds", given);
  o.check(count > 1, "\"num_thresholds\" must be above 1");
  o.check(!labels || multiLabel,
          "\"num_labels\" is for \"multi_label\": set both, or neither");
}

std::string AUC::complaint(ArrayRef<int64_t> sample) const {
  if (multiLabel && sample.size() != 1)
    return "has \"multi_label\", for which a sample's predictions are a "
           "vector; they have " +
           std::to_string(sample.size()) + " dimensions";
  if (labels && *labels != sample.back())
    return "has \"num_labels\" " + std::to_string(*labels) + ", a sample has " +
           std::to_string(sample.back()) + " predictions; make them equal";
  return "";
}

Thresholds AUC::thresholds() const {
  Thresholds out{{}, true, true, multiLabel};
  std::vector<double> inner = given;
  std::sort(inner.begin(), inner.end());
  for (int64_t i = 1; given.empty() && i + 1 < count; ++i)
    inner.push_back(double(i) / double(count - 1));
  for (size_t i = 0; i < inner.size(); ++i) {
    double even = double(i + 1) / double(inner.size() + 1);
    // The tolerance is that of numpy.allclose with atol = epsilon.
    out.areEven &= std::abs(inner[i] - even) <= kEpsilon + 1e-5 * even;
  }
  out.areEven &= given.empty() || inner.size() > 0;
  out.values = {-kEpsilon};
  out.values.insert(out.values.end(), inner.begin(), inner.end());
  out.values.push_back(1 + kEpsilon);
  return out;
}

MetricInputs AUC::prepared(Tensors &t, MetricInputs in) const {
  if (fromLogits)
    in.prediction = logistic(in.prediction);
  return in;
}

/// The sum of areas over the thresholds, averaged over the labels.
Tensor AUC::total(Tensors &t, Tensor areas) const {
  return t.meanAll(t.reduce(ReduceKind::Sum, areas, {0}));
}

/// The values at each threshold except the last, and those at the next
/// threshold.
static std::pair<Tensor, Tensor> neighbours(Tensors &t, Tensor x) {
  int64_t count = t.size(x, 0);
  return {t.slice(x, 0, 0, count - 1), t.slice(x, 0, 1, count)};
}

Tensor AUC::interpolated(Tensors &t, const Confusion &counts) const {
  auto [tp, nextTp] = neighbours(t, counts.truePositives);
  auto [p, nextP] = neighbours(t, counts.truePositives + counts.falsePositives);
  Tensor nextFn = neighbours(t, counts.falseNegatives).second;
  Tensor risen = tp - nextTp;
  Tensor slope = quotient(t, risen, max(p - nextP, 0));
  Tensor intercept = nextTp - slope * nextP;
  Tensor areBoth = (p > 0) & (nextP > 0);
  Tensor ratio = select(areBoth, quotient(t, p, max(nextP, 0)), 1);
  Tensor area = slope * (risen + intercept * log(ratio));
  return total(t, quotient(t, area, max(nextTp + nextFn, 0)));
}

/// Recall gain and precision gain, relative to a classifier that always
/// predicts true.
static std::pair<Tensor, Tensor> gains(Tensors &t, const Confusion &counts) {
  Tensor tp = counts.truePositives;
  Tensor scale = quotient(t, tp + counts.falseNegatives,
                          counts.trueNegatives + counts.falsePositives);
  Tensor isNone = tp == 0;
  auto gain = [&](Tensor wrong, double ofNone) {
    Tensor value = 1.0 - scale * quotient(t, wrong, tp);
    return select(isNone, ofNone, value);
  };
  return {max(gain(counts.falseNegatives, 0), 0),
          gain(counts.falsePositives, 1)};
}

Tensor AUC::result(Tensors &t, const Confusion &counts) const {
  if (curve == "PR" && summation == "interpolation")
    return interpolated(t, counts);
  Tensor x = rateOf(t, Rate::Recall, counts), y = x;
  if (curve == "ROC")
    x = quotient(t, counts.falsePositives,
                 counts.falsePositives + counts.trueNegatives);
  else if (curve == "PR")
    y = rateOf(t, Rate::Precision, counts);
  else
    std::tie(x, y) = gains(t, counts);
  auto [left, right] = neighbours(t, y);
  Tensor height = summation == "interpolation" ? (left + right) / 2
                  : summation == "minoring"    ? min(left, right)
                                               : max(left, right);
  auto [from, to] = neighbours(t, x);
  return total(t, (from - to) * height);
}

namespace weft::keras {
template class CountOf<Count::TruePositives>;
template class CountOf<Count::FalsePositives>;
template class CountOf<Count::TrueNegatives>;
template class CountOf<Count::FalseNegatives>;
template class Ratio<true>;
template class Ratio<false>;
template class BestRate<Rate::Recall, Rate::Specificity>;
template class BestRate<Rate::Specificity, Rate::Recall>;
template class BestRate<Rate::Precision, Rate::Recall>;
template class BestRate<Rate::Recall, Rate::Precision>;
} // namespace weft::keras
