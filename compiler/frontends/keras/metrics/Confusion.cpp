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
static Value alongFirst(Tensors &t, const std::vector<double> &numbers,
                        ArrayRef<int64_t> shape) {
  std::vector<float> data(numbers.begin(), numbers.end());
  return t.make<BroadcastOp>(t.constant(data, {int64_t(data.size())}), shape,
                             ArrayRef<int64_t>{0});
}

/// Whether each prediction is above each threshold; dimension 0 has the
/// thresholds.
static Value positives(Tensors &t, Value prediction,
                       const Thresholds &thresholds) {
  int64_t count = int64_t(thresholds.values.size());
  SmallVector<int64_t> shape = {count}, dims;
  for (int64_t dim = 0; dim < t.rank(prediction); ++dim) {
    shape.push_back(t.size(prediction, dim));
    dims.push_back(dim + 1);
  }
  auto spread = [&](Value x) { return t.make<BroadcastOp>(x, shape, dims); };
  if (!thresholds.areEven)
    return t.compare(CompareKind::GT, spread(prediction),
                     alongFirst(t, thresholds.values, shape));
  Value inside = t.min(t.max(prediction, 0), 1);
  Value bucket = t.add(t.make<CeilOp>(t.mul(inside, double(count - 1))), -1.0);
  if (thresholds.takeAll)
    bucket = t.max(bucket, 0);
  std::vector<double> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = double(i);
  return t.compare(CompareKind::GE, spread(bucket),
                   alongFirst(t, numbers, shape));
}

Confusion weft::keras::confusion(Tensors &t, const MetricInputs &in,
                                 const Thresholds &thresholds) {
  Value isTrue = t.toFloat(t.compare(CompareKind::NE, in.label, 0));
  Value isFalse = t.sub(1.0, isTrue);
  if (in.weight) {
    Value weight = weightsLike(t, in.weight, isTrue);
    isTrue = t.mul(isTrue, weight);
    isFalse = t.mul(isFalse, weight);
  }
  Value above = t.toFloat(positives(t, in.prediction, thresholds));
  int64_t rank = t.rank(isTrue), kept = thresholds.byLabel ? 1 : 0;
  SmallVector<int64_t> dims, summed;
  for (int64_t dim = 1; dim <= rank; ++dim) {
    dims.push_back(dim);
    if (dim <= rank - kept)
      summed.push_back(dim);
  }
  auto counted = [&](Value weight) {
    Value each = t.make<BroadcastOp>(weight, t.shape(above), dims);
    return t.reduce(ReduceKind::Sum, t.mul(above, each), summed);
  };
  auto others = [&](Value weight, Value counts) {
    SmallVector<int64_t> every;
    for (int64_t dim : summed)
      every.push_back(dim - 1);
    Value total = t.reduce(ReduceKind::Sum, weight, every);
    return t.sub(t.spread(total, counts, {0}), counts);
  };
  Value right = counted(isTrue), wrong = counted(isFalse);
  return {right, wrong, others(isFalse, wrong), others(isTrue, right)};
}

/// The k largest predictions; the others become a number far below all
/// thresholds.
static Value largest(Tensors &t, Value prediction, int64_t k) {
  int64_t last = t.last(prediction), classes = t.size(prediction, -1);
  SmallVector<int64_t> shape(t.shape(prediction)), wide;
  shape[last] = std::min(k, classes);
  auto top = TopKOp::create(
      t.builder, t.loc, tensorType(prediction).clone(shape),
      tensorType(prediction).clone(shape).clone(t.builder.getI32Type()),
      prediction, uint64_t(last));
  wide = shape;
  wide.push_back(classes);
  Value hot = t.oneHot(top.getPositions(),
                       t.splat(0, tensorType(prediction).clone(wide)));
  Value isTop = t.reduce(ReduceKind::Sum, hot, {last});
  return t.add(t.mul(prediction, isTop), t.mul(t.sub(1.0, isTop), -1e10));
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
static Value eachLevel(Tensors &t, Value values) {
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
                                     ArrayRef<Value> state) const {
  Confusion counts = confusion(t, in, levels(thresholds, 0.5));
  Value added = which == Count::TruePositives    ? counts.truePositives
                : which == Count::FalsePositives ? counts.falsePositives
                : which == Count::TrueNegatives  ? counts.trueNegatives
                                                 : counts.falseNegatives;
  Value total = t.add(state[0], added);
  return {eachLevel(t, total), {total}};
}

template <bool ofPredicted> void Ratio<ofPredicted>::ownOptions(Options &o) {
  thresholdOption(o, thresholds);
  o.maybeInteger("top_k", topK, kPositive);
  classOption(o);
}

template <bool ofPredicted>
MetricResult Ratio<ofPredicted>::compute(Tensors &t, const MetricInputs &in,
                                         ArrayRef<Value> state) const {
  Confusion counts = confusion(t, chosen(t, in), at());
  Value right = t.add(state[0], counts.truePositives);
  Value wrong = t.add(state[1], ofPredicted ? counts.falsePositives
                                            : counts.falseNegatives);
  Value result = quotient(t, right, t.add(right, wrong));
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
                              ArrayRef<Value> state) const {
  Confusion added = confusion(t, prepared(t, in), thresholds());
  Confusion counts{t.add(state[0], added.truePositives),
                   t.add(state[1], added.falsePositives),
                   t.add(state[2], added.trueNegatives),
                   t.add(state[3], added.falseNegatives)};
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

static Value rateOf(Tensors &t, Rate rate, const Confusion &counts) {
  bool isSpecificity = rate == Rate::Specificity;
  Value right = isSpecificity ? counts.trueNegatives : counts.truePositives;
  Value wrong =
      rate == Rate::Recall ? counts.falseNegatives : counts.falsePositives;
  return quotient(t, right, t.add(right, wrong));
}

template <Rate best, Rate where>
Value BestRate<best, where>::result(Tensors &t, const Confusion &counts) const {
  Value reached = t.compare(CompareKind::GE, rateOf(t, where, counts), value);
  Value rates = rateOf(t, best, counts);
  Value found = t.select(reached, rates, t.splat(0, rates));
  return t.max(t.reduce(ReduceKind::Max, found, {0}), 0);
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
    in.prediction = t.make<LogisticOp>(in.prediction);
  return in;
}

/// The sum of areas over the thresholds, averaged over the labels.
Value AUC::total(Tensors &t, Value areas) const {
  return t.meanAll(t.reduce(ReduceKind::Sum, areas, {0}));
}

/// The values at each threshold except the last, and those at the next
/// threshold.
static std::pair<Value, Value> neighbours(Tensors &t, Value x) {
  int64_t count = t.size(x, 0);
  return {t.slice(x, 0, 0, count - 1), t.slice(x, 0, 1, count)};
}

Value AUC::interpolated(Tensors &t, const Confusion &counts) const {
  auto [tp, nextTp] = neighbours(t, counts.truePositives);
  auto [p, nextP] =
      neighbours(t, t.add(counts.truePositives, counts.falsePositives));
  Value nextFn = neighbours(t, counts.falseNegatives).second;
  Value risen = t.sub(tp, nextTp);
  Value slope = quotient(t, risen, t.max(t.sub(p, nextP), 0));
  Value intercept = t.sub(nextTp, t.mul(slope, nextP));
  Value areBoth = t.make<AndOp>(t.compare(CompareKind::GT, p, 0),
                                t.compare(CompareKind::GT, nextP, 0));
  Value ratio =
      t.select(areBoth, quotient(t, p, t.max(nextP, 0)), t.splat(1, p));
  Value area =
      t.mul(slope, t.add(risen, t.mul(intercept, t.make<LogOp>(ratio))));
  return total(t, quotient(t, area, t.max(t.add(nextTp, nextFn), 0)));
}

/// Recall gain and precision gain, relative to a classifier that always
/// predicts true.
static std::pair<Value, Value> gains(Tensors &t, const Confusion &counts) {
  Value tp = counts.truePositives;
  Value scale = quotient(t, t.add(tp, counts.falseNegatives),
                         t.add(counts.trueNegatives, counts.falsePositives));
  Value isNone = t.compare(CompareKind::EQ, tp, 0);
  auto gain = [&](Value wrong, double ofNone) {
    Value value = t.sub(1.0, t.mul(scale, quotient(t, wrong, tp)));
    return t.select(isNone, t.splat(ofNone, tp), value);
  };
  return {t.max(gain(counts.falseNegatives, 0), 0),
          gain(counts.falsePositives, 1)};
}

Value AUC::result(Tensors &t, const Confusion &counts) const {
  if (curve == "PR" && summation == "interpolation")
    return interpolated(t, counts);
  Value x = rateOf(t, Rate::Recall, counts), y = x;
  if (curve == "ROC")
    x = quotient(t, counts.falsePositives,
                 t.add(counts.falsePositives, counts.trueNegatives));
  else if (curve == "PR")
    y = rateOf(t, Rate::Precision, counts);
  else
    std::tie(x, y) = gains(t, counts);
  auto [left, right] = neighbours(t, y);
  Value height = summation == "interpolation" ? t.div(t.add(left, right), 2)
                 : summation == "minoring"    ? t.make<MinOp>(left, right)
                                              : t.make<MaxOp>(left, right);
  auto [from, to] = neighbours(t, x);
  return total(t, t.mul(t.sub(from, to), height));
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
