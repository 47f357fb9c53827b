//===- CurveMetrics.h - metrics of counts at many thresholds -----*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_METRICS_CURVEMETRICS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_METRICS_CURVEMETRICS_H

#include "weft/compiler/frontends/keras/metrics/Confusion.h"

namespace weft::keras {

/// Metrics of all four counts at many thresholds.
class CurveMetric : public ClassMetric {
public:
  std::vector<MetricVariable>
  variables(llvm::ArrayRef<int64_t> sample) const override;
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;

protected:
  virtual Thresholds thresholds() const = 0;
  virtual MetricInputs prepared(Tensors &t, MetricInputs in) const {
    return chosen(t, in);
  }
  virtual Tensor result(Tensors &t, const Confusion &counts) const = 0;
};

/// A rate of the counts at each threshold. Keras names recall "sensitivity" in
/// two of the metrics below.
enum class Rate { Recall, Specificity, Precision };

/// The largest rate `best` over the thresholds at which the rate `where` is at
/// least a given value.
template <Rate best, Rate where> class BestRate : public CurveMetric {
  double value = 0.5;
  int64_t count = 200;

  void ownOptions(Options &o) override;
  Thresholds thresholds() const override;
  Tensor result(Tensors &t, const Confusion &counts) const override;
};

using SensitivityAtSpecificity = BestRate<Rate::Recall, Rate::Specificity>;
using SpecificityAtSensitivity = BestRate<Rate::Specificity, Rate::Recall>;
using PrecisionAtRecall = BestRate<Rate::Precision, Rate::Recall>;
using RecallAtPrecision = BestRate<Rate::Recall, Rate::Precision>;

/// The area under a curve.
class AUC : public CurveMetric {
  int64_t count = 200;
  std::string curve = "ROC", summation = "interpolation";
  std::vector<double> given;
  bool multiLabel = false, fromLogits = false;
  std::optional<int64_t> labels;

  void ownOptions(Options &o) override;
  Thresholds thresholds() const override;
  MetricInputs prepared(Tensors &t, MetricInputs in) const override;
  Tensor result(Tensors &t, const Confusion &counts) const override;
  Tensor interpolated(Tensors &t, const Confusion &counts) const;
  Tensor total(Tensors &t, Tensor areas) const;

public:
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_METRICS_CURVEMETRICS_H
