//===- CurveMetrics.cpp - metrics of counts at many thresholds ------------===//

#include "weft/compiler/frontends/keras/metrics/CurveMetrics.h"
#include "weft/compiler/frontends/keras/losses/Losses.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static constexpr Range kThresholds = {1, 1 << 20, "lie between 1 and 1048576"};

std::vector<MetricVariable>
CurveMetric::variables(ArrayRef<int64_t> sample) const {
  Thresholds at = thresholds();
  std::vector<int64_t> shape = {int64_t(at.values.size())};
  if (at.byLabel && !sample.empty())
    shape.push_back(sample.back());
  return {{"true_positives", shape},
          {"false_positives", shape},
          {"true_negatives", shape},
          {"false_negatives", shape}};
}

MetricResult CurveMetric::compute(Tensors &t, const MetricInputs &in,
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
template class BestRate<Rate::Recall, Rate::Specificity>;
template class BestRate<Rate::Specificity, Rate::Recall>;
template class BestRate<Rate::Precision, Rate::Recall>;
template class BestRate<Rate::Recall, Rate::Precision>;
} // namespace weft::keras
