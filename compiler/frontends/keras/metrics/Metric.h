//===- Metric.h - the metrics of Keras ---------------------------*- C++ -*-===//
//
// A metric gives the mean of a batch; the training loop averages the batches of
// an epoch by their sizes. "accuracy" stands for one of three, as in Keras:
//
//   predictions end in 1           binary_accuracy
//   labels are numbers of classes  sparse_categorical_accuracy
//   else                           categorical_accuracy
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_METRICS_METRIC_H
#define WEFT_COMPILER_FRONTENDS_KERAS_METRICS_METRIC_H

#include "weft/compiler/frontends/keras/schema/Options.h"

namespace mlir {
class Value;
} // namespace mlir

namespace weft::keras {

class Tensors;

class Metric : public Configured {
public:
  std::string name;

  /// The options of every metric, then those of the class.
  void options(Options &o) final;
  virtual void ownOptions(Options &) {}
  /// Are labels the numbers of classes, without the last dimension?
  virtual bool takesClassNumbers() const { return false; }
  /// One value for each sample (and further dimension but the last).
  virtual mlir::Value values(Tensors &t, mlir::Value label,
                             mlir::Value prediction) const = 0;
  /// The mean of a batch, a scalar of f32; `mask` has the shape of the values
  /// (i1), or is null.
  mlir::Value mean(Tensors &t, mlir::Value label, mlir::Value prediction,
                   mlir::Value mask) const;
};

using MetricPtr = std::shared_ptr<const Metric>;
const Table<Metric> &metricTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_METRICS_METRIC_H
