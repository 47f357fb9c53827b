//===- Confusion.h - right and wrong at thresholds --------------*- C++ -*-===//
//
// Private to the metrics. The counts from which they are computed, for each
// threshold:
//
//                  prediction above it    not above
//   label is true  true positives         false negatives
//   label is 0     false positives        true negatives
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_METRICS_CONFUSION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_METRICS_CONFUSION_H

#include "weft/compiler/frontends/keras/metrics/Metric.h"

namespace weft::keras {

/// The four counts as sums of weights, in the shape (thresholds) or
/// (thresholds, labels).
struct Confusion {
  Tensor truePositives, falsePositives, trueNegatives, falseNegatives;
};

/// The thresholds above which predictions are positive.
struct Thresholds {
  std::vector<double> values;
  /// Whether the thresholds are 0, 1/n, ..., 1 up to about epsilon. Keras then
  /// sorts predictions into buckets.
  bool areEven = false;
  /// Whether the first threshold is below 0, so that all predictions are above
  /// it.
  bool takeAll = false;
  bool byLabel = false; ///< count each label (last dimension) for itself
  int64_t count() const { return int64_t(values.size()); }
};
/// The thresholds that a user gave, or the single threshold `without` by
/// default.
Thresholds levels(const std::vector<double> &given, double without);
Confusion confusion(Tensors &t, const MetricInputs &in,
                    const Thresholds &thresholds);

/// The option `thresholds`: numbers between 0 and 1.
void thresholdOption(Options &o, std::vector<double> &thresholds);

/// Metrics that can be limited to the k largest predictions of a sample, or to
/// one class.
class ClassMetric : public Metric {
protected:
  std::optional<int64_t> topK, classId;

  void classOption(Options &o) {
    o.maybeInteger("class_id", classId, kNotNegative);
  }
  MetricInputs chosen(Tensors &t, MetricInputs in) const;

public:
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
  llvm::ArrayRef<int64_t>
  weighted(llvm::ArrayRef<int64_t> prediction) const override {
    return prediction.drop_back(classId.has_value());
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_METRICS_CONFUSION_H
