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

/// Metrics that can be limited to the k largest predictions of a sample, or to
/// one class.
class OfClass : public Metric {
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

/// The four counts of Confusion.
enum class Count {
  TruePositives,
  FalsePositives,
  TrueNegatives,
  FalseNegatives
};

template <Count which> class CountOf : public OfClass {
  std::vector<double> thresholds = {0.5};

  void ownOptions(Options &o) override;

public:
  const char *direction() const override { return ""; }
  std::vector<MetricVariable>
  variables(llvm::ArrayRef<int64_t>) const override {
    return {{"accumulator", {levels(thresholds, 0.5).count()}}};
  }
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;
};

/// True positives divided by all predicted positives (Precision), or by all
/// true labels (Recall).
template <bool ofPredicted> class Ratio : public OfClass {
  std::vector<double> thresholds;

  void ownOptions(Options &o) override;
  Thresholds at() const { return levels(thresholds, topK ? -1e10 : 0.5); }

public:
  std::vector<MetricVariable>
  variables(llvm::ArrayRef<int64_t>) const override {
    int64_t count = at().count();
    return {{"true_positives", {count}},
            {ofPredicted ? "false_positives" : "false_negatives", {count}}};
  }
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;
};

/// Metrics of all four counts at many thresholds.
class OfCurve : public OfClass {
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

/// The rates of BestRate, which is the largest rate `best` over the thresholds
/// at which the rate `where` is at least a given value.
enum class Rate { Recall, Specificity, Precision };

template <Rate best, Rate where> class BestRate : public OfCurve {
  double value = 0.5;
  int64_t count = 200;

  void ownOptions(Options &o) override;
  Thresholds thresholds() const override;
  Tensor result(Tensors &t, const Confusion &counts) const override;
};

/// The area under a curve.
class AUC : public OfCurve {
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

#endif // WEFT_COMPILER_FRONTENDS_KERAS_METRICS_CONFUSION_H
