//===- Scores.h - scores of a whole epoch -----------------------*- C++ -*-===//
//
// Private to the metrics: those that are not means over samples.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_METRICS_SCORES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_METRICS_SCORES_H

#include "weft/compiler/frontends/keras/metrics/Metric.h"

namespace weft::keras {

/// The weighted harmonic mean of precision and recall.
class FBetaScore : public Metric {
  llvm::ArrayRef<int64_t> weighted(llvm::ArrayRef<int64_t>) const override {
    return {};
  }

protected:
  std::optional<std::string> average; ///< none: one score for each class
  std::optional<double> threshold;
  double beta = 1;

  void ownOptions(Options &o) override;

public:
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
  std::vector<MetricVariable>
  variables(llvm::ArrayRef<int64_t> sample) const override;
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;
};

class F1Score : public FBetaScore {
  void ownOptions(Options &o) override;
};

/// The metric 1 - squared error / variance of the labels.
class R2Score : public Metric {
  std::optional<std::string> aggregation = "uniform_average";

  void ownOptions(Options &o) override;

public:
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
  std::vector<MetricVariable>
  variables(llvm::ArrayRef<int64_t> sample) const override;
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;
};

class RootMeanSquaredError : public Metric {
public:
  const char *direction() const override { return "down"; }
  std::vector<MetricVariable>
  variables(llvm::ArrayRef<int64_t>) const override {
    return {{"total", {}}, {"count", {}}};
  }
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;
};

/// Intersection over union of predicted and labelled samples of a class, as the
/// mean over the target classes.
class IoU : public Metric {
protected:
  int64_t classes = 0;
  std::vector<int64_t> targets;
  std::optional<int64_t> ignoreClass;
  bool hasSparseLabels = true, hasSparsePredictions = true;
  std::string type = "int"; ///< type of the matrix and of the weights
  bool countsIntegers() const { return type.starts_with("int"); }

  void typeOption(Options &o) override {
    o.choice("dtype", type, {"int", "int32", "int64", "float32"});
  }
  void ownOptions(Options &o) override;
  void classOptions(Options &o);
  void checkTargets(Options &o);
  /// The predicted class numbers, as i32.
  virtual Tensor predicted(Tensors &t, Tensor prediction) const;

public:
  llvm::ArrayRef<int64_t>
  weighted(llvm::ArrayRef<int64_t> prediction) const override {
    return prediction.drop_back(!hasSparsePredictions);
  }
  bool takesClassNumbers() const override {
    return hasSparseLabels && !hasSparsePredictions;
  }
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
  std::vector<MetricVariable>
  variables(llvm::ArrayRef<int64_t>) const override {
    return {{"total_confusion_matrix", {classes, classes}, countsIntegers()}};
  }
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const override;
};

/// Mean intersection over union of all classes.
class MeanIoU : public IoU {
protected:
  void ownOptions(Options &o) override;
  void allTargets();
};

class BinaryIoU : public IoU {
  double threshold = 0.5;
  void ownOptions(Options &o) override;
  Tensor predicted(Tensors &t, Tensor prediction) const override {
    return t.toInteger(prediction >= threshold);
  }

public:
  BinaryIoU() {
    classes = 2;
    targets = {0, 1};
  }
};

class OneHotIoU : public IoU {
  void ownOptions(Options &o) override;

public:
  OneHotIoU() { hasSparseLabels = hasSparsePredictions = false; }
};

class OneHotMeanIoU : public MeanIoU {
  void ownOptions(Options &o) override;

public:
  OneHotMeanIoU() { hasSparseLabels = hasSparsePredictions = false; }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_METRICS_SCORES_H
