//===- MetricTable.cpp - the metrics of Keras -----------------------------===//

#include "weft/compiler/frontends/keras/losses/Losses.h"
#include "weft/compiler/frontends/keras/metrics/Metric.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// The values of a loss.
template <class L> class OfLoss : public Metric {
  L loss;
  void ownOptions(Options &o) override {
    static_cast<Loss &>(loss).ownOptions(o);
  }
  bool takesClassNumbers() const override { return loss.takesClassNumbers(); }
  Value values(Tensors &t, Value label, Value prediction) const override {
    return loss.values(t, label, prediction);
  }
};

/// Is the prediction on the label's side of the threshold?
class BinaryAccuracy : public Metric {
  double threshold = 0.5;
  void ownOptions(Options &o) override {
    o.number("threshold", threshold, kAnyNumber);
  }
  Value values(Tensors &t, Value label, Value prediction) const override {
    Value above = t.toFloat(t.compare(CompareKind::GT, prediction, threshold));
    return t.mean(t.toFloat(t.compare(CompareKind::EQ, label, above)),
                  {t.last(prediction)});
  }
};

/// Is the largest prediction that of the label?
class CategoricalAccuracy : public Metric {
  Value values(Tensors &t, Value label, Value prediction) const override {
    return t.toFloat(
        t.compare(CompareKind::EQ, t.argmax(label), t.argmax(prediction)));
  }
};

class SparseCategoricalAccuracy : public Metric {
  bool takesClassNumbers() const override { return true; }
  Value values(Tensors &t, Value label, Value prediction) const override {
    return t.toFloat(t.compare(CompareKind::EQ, label, t.argmax(prediction)));
  }
};

/// Are fewer than k predictions larger than that of the label?
template <bool ofClassNumbers> class TopK : public Metric {
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
  o.ignored("dtype", "metrics are float32");
  o.ignored("fn", "the function of the class's name");
  ownOptions(o);
}

Value Metric::mean(Tensors &t, Value label, Value prediction,
                   Value mask) const {
  Value each = values(t, label, t.toFloat(prediction));
  if (!mask)
    return t.meanAll(each);
  Value bits = t.toFloat(mask), count = t.sumAll(bits);
  Value isEmpty = t.compare(CompareKind::EQ, count, 0);
  Value divisor = t.select(isEmpty, t.splat(1, count), count);
  return t.select(isEmpty, t.splat(0, count),
                  t.div(t.sumAll(t.mul(each, bits)), divisor));
}

const Table<Metric> &weft::keras::metricTable() {
  static const Table<Metric> table = {
      {"metric",
       "metrics",
       {row<BinaryAccuracy>("BinaryAccuracy"),
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
        row<OfLoss<MeanOf<squaredHinge>>>("SquaredHinge")}}};
  return table;
}
