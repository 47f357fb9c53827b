//===- MetricTable.cpp - the metrics of Keras -----------------------------===//

#include "weft/compiler/frontends/keras/losses/Crossentropies.h"
#include "weft/compiler/frontends/keras/metrics/CountMetrics.h"
#include "weft/compiler/frontends/keras/metrics/CurveMetrics.h"
#include "weft/compiler/frontends/keras/metrics/Scores.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// The mean of the values of a loss.
template <class L> class OfLoss : public MeanMetric {
  L loss;
  void ownOptions(Options &o) override {
    static_cast<Loss &>(loss).metricOptions(o);
  }
  const char *direction() const override { return "down"; }
  bool takesClassNumbers() const override { return loss.takesClassNumbers(); }
  std::string complaint(ArrayRef<int64_t> sample) const override {
    return static_cast<const Loss &>(loss).complaint(sample);
  }
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    return loss.values(t, label, prediction);
  }
  Tensor mask(Tensors &t, Tensor label, Tensor values) const override {
    return loss.mask(t, label, values);
  }
};

/// Metrics that are the mean of a value of each element.
class OfElements : public MeanMetric {
  ArrayRef<int64_t> weighted(ArrayRef<int64_t> prediction) const override {
    return prediction;
  }
};

/// The share of predictions that equal their label.
class Accuracy : public OfElements {
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    return t.toFloat(label == prediction);
  }
};

/// The cosine of the angle between label and prediction.
class CosineOfAngle : public MeanMetric {
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    return -CosineSimilarity().values(t, label, prediction);
  }
};

/// The Pearson correlation of label and prediction within each sample.
class PearsonCorrelation : public MeanMetric {
  void ownOptions(Options &o) override {
    o.refused("axis", "another axis than the last", "-1");
  }
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    int64_t dims[] = {t.last(prediction)};
    auto normal = [&](Tensor x) {
      x = x - t.spread(t.mean(x, dims), x, dims);
      Tensor deviation = sqrt(t.variance(x, t.mean(x, dims), dims));
      return x / t.spread(deviation, x, dims);
    };
    return t.mean(normal(label) * normal(prediction), dims);
  }
};

/// The concordance correlation, which is the correlation reduced by differences
/// of the means and variances.
class ConcordanceCorrelation : public MeanMetric {
  void ownOptions(Options &o) override {
    o.refused("axis", "another axis than the last", "-1");
  }
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    int64_t dims[] = {t.last(prediction)};
    auto centred = [&](Tensor x, Tensor mean) {
      return x - t.spread(mean, x, dims);
    };
    auto variance = [&](Tensor x) {
      return t.variance(x, t.mean(x, dims), dims);
    };
    Tensor m = t.mean(label, dims), n = t.mean(prediction, dims);
    // Both sides are centred by the predictions' mean, as in Keras.
    Tensor product = centred(label, n) * centred(prediction, n);
    Tensor apart = m - n;
    Tensor norm = variance(centred(label, m)) +
                  variance(centred(prediction, n)) + apart * apart;
    Tensor divisor = t.spread(norm + kEpsilon, product, dims);
    return t.mean(product * 2 / divisor, dims);
  }
};

/// The share of labels that are 1 for a prediction above the threshold, or 0
/// for another one.
class BinaryAccuracy : public OfElements {
  double threshold = 0.5;
  void ownOptions(Options &o) override {
    o.number("threshold", threshold, kAnyNumber);
  }
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    Tensor above = t.toFloat(prediction > threshold);
    return t.toFloat(label == above);
  }
};

/// The share of samples for which the largest prediction is that of the label.
class CategoricalAccuracy : public MeanMetric {
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    return t.toFloat(t.argmax(label) == t.argmax(prediction));
  }
};

class SparseCategoricalAccuracy : public MeanMetric {
  bool takesClassNumbers() const override { return true; }
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    return t.toFloat(label == t.argmax(prediction));
  }
};

/// The share of samples with fewer than k predictions above the label's or,
/// with `from_sorted_ids`, with the label among the first k predictions.
template <bool ofClassNumbers> class TopK : public MeanMetric {
  int64_t k = 5;
  bool areIds = false; ///< predictions are class numbers, best first
  void ownOptions(Options &o) override {
    o.integer("k", k, kPositive);
    if (ofClassNumbers)
      o.flag("from_sorted_ids", areIds);
  }
  bool takesClassNumbers() const override { return ofClassNumbers; }
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    int64_t dims[] = {t.last(prediction)};
    if (areIds) {
      int64_t count = std::min(k, t.size(prediction, -1));
      Tensor first = t.slice(prediction, -1, 0, count);
      Tensor wanted = t.spread(t.toFloat(label), first, dims);
      return t.toFloat(t.reduce(ReduceKind::Or, wanted == first, dims));
    }
    Tensor isLabel =
        t.oneHot(ofClassNumbers ? label : t.argmax(label), prediction);
    Tensor right = t.reduce(ReduceKind::Sum, isLabel * prediction, dims);
    Tensor larger = t.toFloat(prediction > t.spread(right, prediction, dims));
    Tensor count = t.reduce(ReduceKind::Sum, larger, dims);
    return t.toFloat(count < double(k));
  }
};

} // namespace

void Metric::options(Options &o) {
  o.text("name", name);
  typeOption(o);
  o.ignored("fn", "the function of the class's name");
  ownOptions(o);
}

std::string Metric::weightComplaint(ArrayRef<int64_t> weight,
                                    ArrayRef<int64_t> prediction) const {
  ArrayRef<int64_t> values = weighted(prediction), rest = weight;
  while (rest.size() > values.size() && rest.back() == 1)
    rest = rest.drop_back();
  bool fits = rest.size() <= values.size();
  for (size_t i = 0; fits && i < rest.size(); ++i)
    fits = rest[i] == 1 || rest[i] == values[i];
  return fits ? ""
              : "takes one weight for each sample or for each of its values " +
                    shapeText(values) + "; those given have the shape " +
                    shapeText(weight);
}

Tensor weft::keras::weightsLike(Tensors &t, Tensor weight, Tensor like) {
  SmallVector<int64_t> shape(t.shape(weight));
  while (int64_t(shape.size()) > t.rank(like))
    shape.pop_back();
  shape.resize(t.rank(like), 1);
  return t.stretch(t.reshape(weight, shape), t.shape(like));
}

WeightedSum weft::keras::weightedSum(Tensors &t, Tensor values, Tensor weight) {
  auto from = [&](int64_t first, Tensor x) {
    SmallVector<int64_t> dims;
    for (int64_t dim = first; dim < t.rank(x); ++dim)
      dims.push_back(dim);
    return t.mean(x, dims);
  };
  if (t.rank(values) == 0) // values that are one mean over the batch
    values = t.fill(values, from(1, weight));
  if (t.rank(weight) < t.rank(values))
    values = from(t.rank(weight), values);
  weight = weightsLike(t, weight, values);
  return {t.sumAll(from(1, values * weight)), t.sumAll(from(1, weight))};
}

MetricResult MeanMetric::compute(Tensors &t, const MetricInputs &in,
                                 llvm::ArrayRef<Tensor>) const {
  Tensor each = values(t, in.label, in.prediction);
  if (!in.weight && !in.mask)
    return {t.meanAll(each)};
  Tensor weight = in.weight ? in.weight : t.splat(1, each);
  auto multiply = [&](Tensor counted) {
    Tensor share = t.toFloat(counted);
    weight = weightsLike(t, weight, share) * share;
  };
  if (in.mask && t.shape(in.mask) == t.shape(each))
    multiply(in.mask);
  if (Tensor counted = mask(t, in.label, each))
    multiply(counted);
  WeightedSum sums = weightedSum(t, each, weight);
  return {t.join({t.reshape(sums.total, {1}), t.reshape(sums.count, {1})})};
}

const Table<Metric> &weft::keras::metricTable() {
  static const Table<Metric> table = {
      {"metric",
       "metrics",
       {row<Accuracy>("Accuracy"),
        row<BinaryAccuracy>("BinaryAccuracy"),
        row<CategoricalAccuracy>("CategoricalAccuracy"),
        row<SparseCategoricalAccuracy>("SparseCategoricalAccuracy"),
        row<TopK<false>>("TopKCategoricalAccuracy"),
        row<TopK<true>>("SparseTopKCategoricalAccuracy"),
        row<OfLoss<MeanOf<squaredError>>>("MeanSquaredError", {"mse"}),
        row<OfLoss<MeanOf<absoluteError>>>("MeanAbsoluteError", {"mae"}),
        row<OfLoss<BinaryCrossentropy>>("BinaryCrossentropy", {"bce"}),
        row<OfLoss<CategoricalCrossentropy>>("CategoricalCrossentropy"),
        row<OfLoss<SparseCategoricalCrossentropy>>(
            "SparseCategoricalCrossentropy"),
        row<OfLoss<CategoricalHinge>>("CategoricalHinge"),
        row<OfLoss<MeanOf<hinge>>>("Hinge"),
        row<OfLoss<KLDivergence>>("KLDivergence",
                                  {"kld", "kullback_leibler_divergence"}),
        row<OfLoss<MeanOf<logCosh>>>("LogCoshError"),
        row<OfLoss<MeanOf<percentageError>>>("MeanAbsolutePercentageError",
                                             {"mape"}),
        row<OfLoss<MeanOf<squaredLogarithmicError>>>(
            "MeanSquaredLogarithmicError", {"msle"}),
        row<OfLoss<MeanOf<poisson>>>("Poisson"),
        row<OfLoss<MeanOf<squaredHinge>>>("SquaredHinge"),
        row<RootMeanSquaredError>("RootMeanSquaredError"),
        row<CosineOfAngle>("CosineSimilarity"),
        row<PearsonCorrelation>("PearsonCorrelation"),
        row<ConcordanceCorrelation>("ConcordanceCorrelation"),
        row<R2Score>("R2Score"),
        row<TruePositives>("TruePositives"),
        row<FalsePositives>("FalsePositives"),
        row<TrueNegatives>("TrueNegatives"),
        row<FalseNegatives>("FalseNegatives"),
        row<Precision>("Precision"),
        row<Recall>("Recall"),
        row<SensitivityAtSpecificity>("SensitivityAtSpecificity"),
        row<SpecificityAtSensitivity>("SpecificityAtSensitivity"),
        row<PrecisionAtRecall>("PrecisionAtRecall"),
        row<RecallAtPrecision>("RecallAtPrecision"),
        row<AUC>("AUC"),
        row<F1Score>("F1Score"),
        row<FBetaScore>("FBetaScore"),
        row<IoU>("IoU"),
        row<BinaryIoU>("BinaryIoU"),
        row<MeanIoU>("MeanIoU"),
        row<OneHotIoU>("OneHotIoU"),
        row<OneHotMeanIoU>("OneHotMeanIoU")}}};
  return table;
}
