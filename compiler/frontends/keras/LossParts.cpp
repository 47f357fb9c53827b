//===- LossParts.cpp - losses and metrics ---------------------------------===//

#include "weft/compiler/frontends/keras/StepParts.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// keras.backend.epsilon().
static constexpr double kEpsilon = 1e-7;

static Value logProbabilities(Tensors &t, const Loss &loss, Value prediction) {
  if (loss.fromLogits)
    return t.logSoftmax(prediction);
  int64_t dims[] = {tensorType(prediction).getRank() - 1};
  Value total = t.reduce(ReduceKind::Sum, prediction, dims);
  Value share = t.div(prediction, t.spread(total, prediction, dims));
  return t.make<LogOp>(t.min(t.max(share, kEpsilon), 1 - kEpsilon));
}

static Value binaryCrossentropy(Tensors &t, const Loss &loss, Value label,
                                Value prediction) {
  Value no = t.sub(1.0, label);
  if (loss.fromLogits) {
    // log sigmoid(x) = -softplus(-x); log sigmoid(-x) = -softplus(x).
    Value yes = t.mul(label, t.softplus(t.make<NegOp>(prediction)));
    return t.add(yes, t.mul(no, t.softplus(prediction)));
  }
  Value p = t.min(t.max(prediction, kEpsilon), 1 - kEpsilon);
  Value yes = t.mul(label, t.make<LogOp>(p));
  return t.make<NegOp>(t.add(yes, t.mul(no, t.make<LogOp>(t.sub(1.0, p)))));
}

/// One value for each sample (and further dimension but the last).
static Value lossValues(Tensors &t, const Loss &loss, Value label,
                        Value prediction) {
  int64_t dims[] = {tensorType(prediction).getRank() - 1};
  double smoothing = loss.labelSmoothing;
  switch (loss.kind) {
  case LossKind::MeanSquaredError: {
    Value difference = t.sub(label, prediction);
    return t.mean(t.mul(difference, difference), dims);
  }
  case LossKind::MeanAbsoluteError:
    return t.mean(t.make<AbsOp>(t.sub(label, prediction)), dims);
  case LossKind::BinaryCrossentropy:
    if (smoothing != 0)
      label = t.add(t.mul(label, 1 - smoothing), 0.5 * smoothing);
    return t.mean(binaryCrossentropy(t, loss, label, prediction), dims);
  case LossKind::CategoricalCrossentropy:
    if (smoothing != 0)
      label = t.add(t.mul(label, 1 - smoothing),
                    smoothing / double(tensorType(label).getDimSize(dims[0])));
    break;
  case LossKind::SparseCategoricalCrossentropy:
    label = t.oneHot(label, prediction);
    break;
  }
  Value product = t.mul(label, logProbabilities(t, loss, prediction));
  return t.make<NegOp>(t.reduce(ReduceKind::Sum, product, dims));
}

Value weft::keras::buildLoss(Tensors &t, const Loss &loss, Value label,
                             Value prediction, Value weight) {
  Value values = lossValues(t, loss, label, prediction);
  if (weight) {
    if (tensorType(values).getRank() != 1)
      weight = t.make<BroadcastOp>(weight, tensorType(values).getShape(),
                                   llvm::ArrayRef<int64_t>{0});
    values = t.mul(values, weight);
  }
  if (loss.reduction == Reduction::Sum)
    return t.sumAll(values);
  if (loss.reduction == Reduction::MeanWithSampleWeight && weight) {
    // A total of zero gives a loss of zero (divide_no_nan).
    Value total = t.sumAll(weight), zero = t.splat(0, total);
    Value empty = t.compare(CompareKind::EQ, total, zero);
    Value divisor = t.make<SelectOp>(empty, t.splat(1, total), total);
    return t.make<SelectOp>(empty, zero, t.div(t.sumAll(values), divisor));
  }
  return t.meanAll(values);
}

std::string weft::keras::metricReason(const Metric &metric, const Loss &loss) {
  bool sparseLabels = loss.kind == LossKind::SparseCategoricalCrossentropy;
  bool sparseMetric = metric.kind == MetricKind::SparseCategoricalAccuracy;
  if (sparseLabels == sparseMetric)
    return "";
  return "metric \"" + metric.name + "\" wants " +
         (sparseMetric
              ? "class numbers as labels, the loss one value for each "
                "prediction"
              : "one label for each prediction, the loss class numbers") +
         "; use metrics that fit the loss";
}

Value weft::keras::buildMetric(Tensors &t, const Metric &metric, Value label,
                               Value prediction) {
  switch (metric.kind) {
  case MetricKind::MeanSquaredError: {
    Value difference = t.sub(label, prediction);
    return t.meanAll(t.mul(difference, difference));
  }
  case MetricKind::MeanAbsoluteError:
    return t.meanAll(t.make<AbsOp>(t.sub(label, prediction)));
  case MetricKind::BinaryAccuracy: {
    Value above = t.toFloat(t.compare(CompareKind::GT, prediction,
                                      t.splat(metric.threshold, prediction)));
    return t.meanAll(t.toFloat(t.compare(CompareKind::EQ, label, above)));
  }
  case MetricKind::CategoricalAccuracy:
    label = t.argmax(label);
    break;
  case MetricKind::SparseCategoricalAccuracy:
    break;
  }
  return t.meanAll(
      t.toFloat(t.compare(CompareKind::EQ, label, t.argmax(prediction))));
}
