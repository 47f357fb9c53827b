//===- Scores.cpp - scores of a whole epoch -------------------------------===//

#include "weft/compiler/frontends/keras/metrics/Scores.h"
#include "weft/compiler/frontends/keras/losses/Losses.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The error of a score whose predictions are not one vector for each sample;
/// else empty.
static std::string vectorReason(ArrayRef<int64_t> sample) {
  return sample.size() == 1
             ? ""
             : "needs a vector of predictions for each sample; "
               "they have " +
                   std::to_string(sample.size()) + " dimensions; flatten them";
}

void FBetaScore::ownOptions(Options &o) {
  o.maybeChoice("average", average, {"micro", "macro", "weighted"});
  o.number("beta", beta, kAnyNumber);
  o.check(beta > 0, "\"beta\" must be above 0");
  o.maybeNumber("threshold", threshold, kShare);
  o.check(!threshold || *threshold > 0, "\"threshold\" must be above 0");
}

void F1Score::ownOptions(Options &o) {
  o.maybeChoice("average", average, {"micro", "macro", "weighted"});
  o.maybeNumber("threshold", threshold, kShare);
  o.check(!threshold || *threshold > 0, "\"threshold\" must be above 0");
}

std::string FBetaScore::complaint(ArrayRef<int64_t> sample) const {
  return vectorReason(sample);
}

std::vector<MetricVariable>
FBetaScore::variables(ArrayRef<int64_t> sample) const {
  std::vector<int64_t> shape;
  if (average != "micro")
    shape = sample;
  return {{"true_positives", shape},
          {"false_positives", shape},
          {"false_negatives", shape},
          {"intermediate_weights", shape}};
}

MetricResult FBetaScore::compute(Tensors &t, const MetricInputs &in,
                                 ArrayRef<Tensor> state) const {
  Tensor p = in.prediction, isYes;
  if (threshold) {
    isYes = p > *threshold;
  } else {
    Tensor largest = t.spread(t.reduce(ReduceKind::Max, p, {1}), p, {1});
    isYes = (p >= largest) & (abs(p) > 1e-9);
  }
  Tensor yes = t.toFloat(isYes), label = in.label;
  auto sum = [&](Tensor x) {
    if (in.weight)
      x = x * weightsLike(t, in.weight, x);
    return average == "micro" ? t.sumAll(x) : t.reduce(ReduceKind::Sum, x, {0});
  };
  Tensor tp = state[0] + sum(yes * label);
  Tensor fp = state[1] + sum(yes * (1.0 - label));
  Tensor fn = state[2] + sum((1.0 - yes) * label);
  Tensor weights = state[3] + sum(label);
  Tensor precision = tp / (tp + fp + kEpsilon);
  Tensor recall = tp / (tp + fn + kEpsilon);
  Tensor both = precision * (beta * beta) + recall;
  Tensor mean = precision * recall / (both + kEpsilon);
  Tensor score = mean * (1 + beta * beta);
  if (average == "weighted") {
    Tensor total = t.sumAll(weights) + kEpsilon;
    score = t.sumAll(score * (weights / total));
  } else if (average) {
    score = t.meanAll(score);
  }
  return {score, {tp, fp, fn, weights}};
}

void R2Score::ownOptions(Options &o) {
  o.maybeChoice("class_aggregation", aggregation,
                {"uniform_average", "variance_weighted_average"});
  o.refused("num_regressors", "a correction that Keras cannot compile for JAX",
            "0");
}

std::string R2Score::complaint(ArrayRef<int64_t> sample) const {
  return vectorReason(sample);
}

std::vector<MetricVariable> R2Score::variables(ArrayRef<int64_t> sample) const {
  return {{"num_samples", {}},
          {"squared_sum", sample},
          {"sum", sample},
          {"residual", sample},
          {"count", sample}};
}

MetricResult R2Score::compute(Tensors &t, const MetricInputs &in,
                              ArrayRef<Tensor> state) const {
  Tensor label = in.label, weight = in.weight ? weightsLike(t, in.weight, label)
                                              : t.splat(1, label);
  Tensor weighted = label * weight;
  auto added = [&](Tensor total, Tensor x) {
    return total + t.reduce(ReduceKind::Sum, x, {0});
  };
  Tensor number = state[0] + double(tensorType(label).getNumElements());
  Tensor squares = added(state[1], label * weighted);
  Tensor sum = added(state[2], weighted);
  Tensor error = squaredError(t, label, in.prediction);
  Tensor residual = added(state[3], error * weight);
  Tensor count = added(state[4], weight);
  Tensor total = squares - sum * (sum / count);
  Tensor score = 1.0 - residual / total;
  Tensor isInfinite = abs(score) == INFINITY;
  score = select(isInfinite, 0, score);
  if (aggregation == "uniform_average")
    score = t.meanAll(score);
  else if (aggregation)
    score = t.sumAll(total * score) / t.sumAll(total);
  return {score, {number, squares, sum, residual, count}};
}

MetricResult RootMeanSquaredError::compute(Tensors &t, const MetricInputs &in,
                                           ArrayRef<Tensor> state) const {
  Tensor error = squaredError(t, in.prediction, in.label);
  WeightedSum sums =
      weightedSum(t, error, in.weight ? in.weight : t.splat(1, error));
  Tensor total = state[0] + sums.total;
  Tensor count = state[1] + sums.count;
  return {sqrt(quotient(t, total, count)), {total, count}};
}

static constexpr Range kClasses = {1, 1 << 15, "lie between 1 and 32768"};

void IoU::classOptions(Options &o) {
  o.integer("num_classes", classes, kClasses);
  o.maybeInteger("ignore_class", ignoreClass, kAnyNumber);
}

void IoU::checkTargets(Options &o) {
  o.axes("target_class_ids", targets);
  for (int64_t target : targets)
    o.check(target >= 0 && target < classes,
            "\"target_class_ids\" has " + std::to_string(target) +
                "; classes count from 0 to " + std::to_string(classes - 1));
  o.check(classes == 0 || !targets.empty(),
          "\"target_class_ids\" names no class; name one at least");
}

void IoU::ownOptions(Options &o) {
  classOptions(o);
  o.flag("sparse_y_true", hasSparseLabels);
  o.flag("sparse_y_pred", hasSparsePredictions);
  o.refused("axis", "classes along another axis", "-1");
  checkTargets(o);
}

void MeanIoU::allTargets() {
  targets.resize(std::max<int64_t>(classes, 0));
  std::iota(targets.begin(), targets.end(), 0);
}

void MeanIoU::ownOptions(Options &o) {
  classOptions(o);
  o.flag("sparse_y_true", hasSparseLabels);
  o.flag("sparse_y_pred", hasSparsePredictions);
  o.refused("axis", "classes along another axis", "-1");
  allTargets();
}

void BinaryIoU::ownOptions(Options &o) {
  checkTargets(o);
  o.number("threshold", threshold, kAnyNumber);
}

void OneHotIoU::ownOptions(Options &o) {
  classOptions(o);
  o.refused("sparse_y_pred", "predictions without the labels' last dimension",
            "false");
  o.refused("axis", "classes along another axis", "-1");
  checkTargets(o);
}

void OneHotMeanIoU::ownOptions(Options &o) {
  classOptions(o);
  o.refused("sparse_y_pred", "predictions without the labels' last dimension",
            "false");
  o.refused("axis", "classes along another axis", "-1");
  allTargets();
}

std::string IoU::complaint(ArrayRef<int64_t> sample) const {
  if (hasSparsePredictions && !hasSparseLabels)
    return "has \"sparse_y_pred\" and one label for each class; set it to "
           "false";
  if (!hasSparsePredictions && sample.empty())
    return "needs one prediction for each class; a sample has a single one";
  return "";
}

Tensor IoU::predicted(Tensors &t, Tensor prediction) const {
  return hasSparsePredictions ? t.toInteger(prediction) : t.argmax(prediction);
}

MetricResult IoU::compute(Tensors &t, const MetricInputs &in,
                          ArrayRef<Tensor> state) const {
  Tensor label = hasSparseLabels ? t.toInteger(in.label) : t.argmax(in.label);
  Tensor prediction = predicted(t, in.prediction);
  auto counts = [&](Tensor x) { return (x >= 0) & (x < double(classes)); };
  Tensor isCounted = counts(label) & counts(prediction);
  if (ignoreClass)
    isCounted = isCounted & (label != double(*ignoreClass));
  Tensor weight = t.toFloat(isCounted);
  if (in.weight) {
    // The weights are truncated if the matrix counts integers.
    Tensor given = in.weight;
    if (countsIntegers())
      given = t.toFloat(t.toInteger(given));
    weight = weight * weightsLike(t, given, weight);
  }
  SmallVector<int64_t> shape(t.shape(label)), dims;
  for (int64_t dim = 0; dim < t.rank(label); ++dim)
    dims.push_back(dim);
  shape.push_back(classes);
  Tensor like =
      t.splat(0, RankedTensorType::get(shape, t.builder.getF32Type()));
  Tensor rows = t.oneHot(label, like) * t.spread(weight, like, {t.last(like)});
  Tensor added = t.make<DotOp>(rows, t.oneHot(prediction, like), dims, dims);
  Tensor matrix = state[0] + (countsIntegers() ? t.toInteger(added) : added);
  Tensor real = t.toFloat(matrix);
  auto positions = [&](int64_t dim) {
    return t.make<IotaOp>(tensorType(matrix), t.builder.getI64IntegerAttr(dim),
                          Tensor());
  };
  Tensor isRight = positions(0) == positions(1);
  Tensor right = t.reduce(ReduceKind::Sum, select(isRight, real, 0), {1});
  Tensor either = t.reduce(ReduceKind::Sum, real, {0}) +
                  t.reduce(ReduceKind::Sum, real, {1}) - right;
  std::vector<double> times(classes);
  for (int64_t target : targets)
    times[target] += 1;
  Tensor chosen = t.row(times, right);
  Tensor isValid = either > 1e-9;
  Tensor share = right / (either + kEpsilon);
  share = select(isValid, share, 0) * chosen;
  Tensor number = t.sumAll(t.toFloat(isValid) * chosen);
  return {t.sumAll(share) / (number + kEpsilon), {matrix}};
}
