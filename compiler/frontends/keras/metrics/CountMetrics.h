//===- CountMetrics.h - metrics of counts at few thresholds ------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_METRICS_COUNTMETRICS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_METRICS_COUNTMETRICS_H

#include "weft/compiler/frontends/keras/metrics/Confusion.h"

namespace weft::keras {

/// One of the counts: TruePositives, FalsePositives, ...
template <Tensor Confusion::*count> class CountMetric : public ClassMetric {
  std::vector<double> thresholds = {0.5};

  void ownOptions(Options &o) override { thresholdOption(o, thresholds); }

public:
  const char *direction() const override { return ""; }
  std::vector<MetricVariable>
  variables(llvm::ArrayRef<int64_t>) const override {
    return {{"accumulator", {levels(thresholds, 0.5).count()}}};
  }
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;
};
using TruePositives = CountMetric<&Confusion::truePositives>;
using FalsePositives = CountMetric<&Confusion::falsePositives>;
using TrueNegatives = CountMetric<&Confusion::trueNegatives>;
using FalseNegatives = CountMetric<&Confusion::falseNegatives>;

/// True positives divided by them and the wrong ones of one kind.
template <Tensor Confusion::*wrong> class HitRate : public ClassMetric {
  std::vector<double> thresholds;

  void ownOptions(Options &o) override;
  Thresholds at() const { return levels(thresholds, topK ? -1e10 : 0.5); }

public:
  std::vector<MetricVariable> variables(llvm::ArrayRef<int64_t>) const override;
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;
};
/// The share of the positive predictions that are right.
using Precision = HitRate<&Confusion::falsePositives>;
/// The share of the true labels that are found.
using Recall = HitRate<&Confusion::falseNegatives>;

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_METRICS_COUNTMETRICS_H
