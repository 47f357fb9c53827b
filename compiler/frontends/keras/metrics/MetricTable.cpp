//===- MetricTable.cpp - the metrics of Keras -----------------------------===//

#include "weft/compiler/frontends/keras/losses/Crossentropies.h"
#include "weft/compiler/frontends/keras/metrics/Confusion.h"
#include "weft/compiler/frontends/keras/metrics/Scores.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// The values of a loss.
template <class L> class OfLoss : public MeanMetric {
  L loss;
  void ownOptions(Options &o) override {
    static_cast<Loss &>(loss).metricOptions(o);
  }
  bool takesClassNumbers() const override { return loss.takesClassNumbers(); }
  Value values(Tensors &t, Value label, Value prediction) const override {
    return loss.values(t, label, prediction);
  }
  Value mask(Tensors &t, Value label, Value values) const override {
    return loss.mask(t, label, values);
  }
};

/// Of each sample; of predictions without a last dimension, those themselves.
Value shareOf(Tensors &t, Value isRight) {
  Value right = t.toFloat(isRight);
  return t.rank(right) == 1 ? right : t.mean(right, {t.last(right)});
}

/// Is the prediction equal to the label?
class Accuracy : public MeanMetric {
  Value values(Tensors &t, Value label, Value prediction) const override {
    return shareOf(t, t.compare(CompareKind::EQ, label, prediction));
  }
};

/// The cosine of the angle between label and prediction.
class CosineOfAngle : public MeanMetric {
  Value values(Tensors &t, Value label, Value prediction) const override {
    return t.neg(CosineSimilarity().values(t, label, prediction));
  }
};

/// Of the elements of each sample.
class PearsonCorrelation : public MeanMetric {
  void ownOptions(Options &o) override {
    o.refused("axis", "another axis than the last", "-1");
  }
  Value values(Tensors &t, Value label, Value prediction) const override {
    int64_t dims[] = {t.last(prediction)};
    auto normal = [&](Value x) {
      x = t.sub(x, t.spread(t.mean(x, dims), x, dims));
      Value deviation = t.make<SqrtOp>(t.variance(x, t.mean(x, dims), dims));
      return t.div(x, t.spread(deviation, x, dims));
    };
    return t.mean(t.mul(normal(label), normal(prediction)), dims);
  }
};

/// The same, less where means or variances differ.
class ConcordanceCorrelation : public MeanMetric {
  void ownOptions(Options &o) override {
    o.refused("axis", "another axis than the last", "-1");
  }
  Value values(Tensors &t, Value label, Value prediction) const override {
    int64_t dims[] = {t.last(prediction)};
    auto centred = [&](Value x, Value mean) {
      return t.sub(x, t.spread(mean, x, dims));
    };
    auto variance = [&](Value x) {
      return t.variance(x, t.mean(x, dims), dims);
    };
    Value m = t.mean(label, dims), n = t.mean(prediction, dims);
    // Keras takes the predictions' mean from both.
    Value product = t.mul(centred(label, n), centred(prediction, n));
    Value apart = t.sub(m, n);
    Value norm = t.add(
        t.add(variance(centred(label, m)), variance(centred(prediction, n))),
        t.mul(apart, apart));
    Value divisor = t.spread(t.add(norm, kEpsilon), product, dims);
    return t.mean(t.div(t.mul(product, 2), divisor), dims);
  }
};

/// Is the prediction on the label's side of the threshold?
class BinaryAccuracy : public MeanMetric {
  double threshold = 0.5;
  void ownOptions(Options &o) override {
    o.number("threshold", threshold, kAnyNumber);
  }
  Value values(Tensors &t, Value label, Value prediction) const override {
    Value above = t.toFloat(t.compare(CompareKind::GT, prediction, threshold));
    return shareOf(t, t.compare(CompareKind::EQ, label, above));
  }
};

/// Is the largest prediction that of the label?
class CategoricalAccuracy : public MeanMetric {
  Value values(Tensors &t, Value label, Value prediction) const override {
    return t.toFloat(
        t.compare(CompareKind::EQ, t.argmax(label), t.argmax(prediction)));
  }
};

class SparseCategoricalAccuracy : public MeanMetric {
  bool takesClassNumbers() const override { return true; }
  Value values(Tensors &t, Value label, Value prediction) const override {
    return t.toFloat(t.compare(CompareKind::EQ, label, t.argmax(prediction)));
  }
};

/// Are fewer than k predictions larger than that of the label?
template <bool ofClassNumbers> class TopK : public MeanMetric {
  int64_t k = 5;
  void ownOptions(Options &o) override { o.integer("k", k, kPositive); }
  bool takesClassNumbers() const override { return ofClassNumbers; }
  Value values(Tensors &t, Value label, Value prediction) const override {
    int64_t dims[] = {t.last(prediction)};
    Value isLabel =
        t.oneHot(ofClassNumbers ? label : t.argmax(label), prediction);
    Value right = t.reduce(ReduceKind::Sum, t.mul(isLabel, prediction), dims);
    Value larger = t.toFloat(t.compare(CompareKind::GT, prediction,
                                       t.spread(right, prediction, dims)));
    Value count = t.reduce(ReduceKind::Sum, larger, dims);
    return t.toFloat(t.compare(CompareKind::LT, count, double(k)));
  }
};

} // namespace

void Metric::options(Options &o) {
  o.text("name", name);
  typeOption(o);
  o.ignored("fn", "the function of the class's name");
  ownOptions(o);
}

MetricResult MeanMetric::compute(Tensors &t, const MetricInputs &in,
                                 llvm::ArrayRef<Value>) const {
  Value each = values(t, in.label, in.prediction);
  if (!in.weight && !in.mask)
    return {t.meanAll(each)};
  if (in.weight && t.rank(each) == 0) // predictions of one dimension
    each = t.fill(each, in.weight);
  SmallVector<int64_t> rest;
  for (int64_t dim = 1; dim < t.rank(each); ++dim)
    rest.push_back(dim);
  Value weight = in.weight ? t.along(in.weight, each, 0) : t.splat(1, each);
  if (in.mask && t.shape(in.mask) == t.shape(each))
    weight = t.mul(weight, t.toFloat(in.mask));
  if (Value counted = mask(t, in.label, each))
    weight = t.mul(weight, t.toFloat(counted));
  Value total = t.sumAll(t.mean(t.mul(each, weight), rest));
  Value count = t.sumAll(t.mean(weight, rest));
  return {t.join({t.reshape(total, {1}), t.reshape(count, {1})})};
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
        row<CountOf<Count::TruePositives>>("TruePositives"),
        row<CountOf<Count::FalsePositives>>("FalsePositives"),
        row<CountOf<Count::TrueNegatives>>("TrueNegatives"),
        row<CountOf<Count::FalseNegatives>>("FalseNegatives"),
        row<Ratio<true>>("Precision"),
        row<Ratio<false>>("Recall"),
        row<BestRate<Rate::Recall, Rate::Specificity>>(
            "SensitivityAtSpecificity"),
        row<BestRate<Rate::Specificity, Rate::Recall>>(
            "SpecificityAtSensitivity"),
        row<BestRate<Rate::Precision, Rate::Recall>>("PrecisionAtRecall"),
        row<BestRate<Rate::Recall, Rate::Precision>>("RecallAtPrecision"),
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
