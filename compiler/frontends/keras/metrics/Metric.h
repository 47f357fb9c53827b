//===- Metric.h - the metrics of Keras ---------------------------*- C++ -*-===//
//
// A metric is either a mean: a step returns the mean of its batch, from which
// the training loop computes that of an epoch,
//
//   mae                scalar: the batch's mean, which counts for its samples
//   mae, weighted      (2): sum of value * weight, and of the weights
//
// or it has variables, which are reset at each epoch, and a step returns its
// value over all batches so far:
//
//   Precision          variables true_positives, false_positives
//
// "accuracy" stands for one of three, as in Keras:
//
//   predictions end in 1           binary_accuracy
//   labels are numbers of classes  sparse_categorical_accuracy
//   otherwise                      categorical_accuracy
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_METRICS_METRIC_H
#define WEFT_COMPILER_FRONTENDS_KERAS_METRICS_METRIC_H

#include "weft/base/config/Options.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

/// The inputs of one batch; `weight` has one number for each sample or each of
/// its values, or is null.
struct MetricInputs {
  Tensor label, prediction, weight;
  Tensor mask = {}; ///< mask of the predictions (i1), or null
};

struct MetricVariable {
  const char *name;
  std::vector<int64_t> shape;
  bool isInteger = false; ///< i32, not f32; 0 when an epoch begins
};

struct MetricResult {
  Tensor value;
  llvm::SmallVector<Tensor> state = {}; ///< the variables after the batch
};

class Metric : public Configured {
public:
  std::string name;

  /// Reads the options of every metric, then those of the class.
  void options(Options &o) final;
  virtual void ownOptions(Options &) {}
  /// Reads the type of the variables; most metrics ignore the option and use
  /// f32.
  virtual void typeOption(Options &o) {
    o.ignored("dtype", "metrics are float32");
  }
  /// "up" if larger values are better, "down" if smaller ones are, "" if Keras
  /// does not define it; callbacks of mode "auto" use it.
  virtual const char *direction() const { return "up"; }
  /// Whether labels are class numbers, without the last dimension.
  virtual bool takesClassNumbers() const { return false; }
  /// The reason, "needs ..." or "has ...", why predictions whose samples have
  /// this shape do not fit; empty if they fit.
  virtual std::string complaint(llvm::ArrayRef<int64_t>) const { return ""; }
  /// The variables of the metric for predictions whose samples have this shape.
  virtual std::vector<MetricVariable> variables(llvm::ArrayRef<int64_t>) const {
    return {};
  }
  /// The shape of the values of a sample that can have weights of their own.
  virtual llvm::ArrayRef<int64_t>
  weighted(llvm::ArrayRef<int64_t> prediction) const {
    return prediction;
  }
  /// The reason why weights of this shape cannot be used, or empty.
  std::string weightComplaint(llvm::ArrayRef<int64_t> weight,
                              llvm::ArrayRef<int64_t> prediction) const;
  virtual MetricResult compute(Tensors &t, const MetricInputs &in,
                               llvm::ArrayRef<Tensor> state) const = 0;
};

/// Metrics that are the mean of one value for each sample and each further
/// dimension, for most of them except the last.
class MeanMetric : public Metric {
public:
  virtual Tensor values(Tensors &t, Tensor label, Tensor prediction) const = 0;
  /// An i1 mask of the values that count if samples have weights or predictions
  /// a mask; null: all count.
  virtual Tensor mask(Tensors &, Tensor, Tensor) const { return {}; }
  llvm::ArrayRef<int64_t>
  weighted(llvm::ArrayRef<int64_t> prediction) const override {
    return prediction.drop_back(!prediction.empty());
  }
  MetricResult compute(Tensors &t, const MetricInputs &in,
                       llvm::ArrayRef<Tensor> state) const final;
};

/// The weights, broadcast along the trailing dimensions of `like`.
Tensor weightsLike(Tensors &t, Tensor weight, Tensor like);
/// The sums over the samples of the weighted values and of the weights, which
/// are averaged over a sample's own dimensions.
struct WeightedSum {
  Tensor total, count;
};
WeightedSum weightedSum(Tensors &t, Tensor values, Tensor weight);

using MetricPtr = std::shared_ptr<const Metric>;
const Table<Metric> &metricTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_METRICS_METRIC_H
