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
                                 ArrayRef<Value> state) const {
  Value p = in.prediction, isYes;
  if (threshold) {
    isYes = t.compare(CompareKind::GT, p, *threshold);
  } else {
    Value largest = t.spread(t.reduce(ReduceKind::Max, p, {1}), p, {1});
    isYes = t.make<AndOp>(t.compare(CompareKind::GE, p, largest),
                          t.compare(CompareKind::GT, t.make<AbsOp>(p), 1e-9));
  }
  Value yes = t.toFloat(isYes), label = in.label;
  auto sum = [&](Value x) {
    if (in.weight)
      x = t.mul(x, weightsLike(t, in.weight, x));
    return average == "micro" ? t.sumAll(x) : t.reduce(ReduceKind::Sum, x, {0});
  };
  Value tp = t.add(state[0], sum(t.mul(yes, label)));
  Value fp = t.add(state[1], sum(t.mul(yes, t.sub(1.0, label))));
  Value fn = t.add(state[2], sum(t.mul(t.sub(1.0, yes), label)));
  Value weights = t.add(state[3], sum(label));
  Value precision = t.div(tp, t.add(t.add(tp, fp), kEpsilon));
  Value recall = t.div(tp, t.add(t.add(tp, fn), kEpsilon));
  Value both = t.add(t.mul(precision, beta * beta), recall);
  Value mean = t.div(t.mul(precision, recall), t.add(both, kEpsilon));
  Value score = t.mul(mean, 1 + beta * beta);
  if (average == "weighted") {
    Value total = t.add(t.sumAll(weights), kEpsilon);
    score = t.sumAll(t.mul(score, t.div(weights, t.fill(total, weights))));
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
                              ArrayRef<Value> state) const {
  Value label = in.label, weight = in.weight ? weightsLike(t, in.weight, label)
                                             : t.splat(1, label);
  Value weighted = t.mul(label, weight);
  auto added = [&](Value total, Value x) {
    return t.add(total, t.reduce(ReduceKind::Sum, x, {0}));
  };
  Value number = t.add(state[0], double(tensorType(label).getNumElements()));
  Value squares = added(state[1], t.mul(label, weighted));
  Value sum = added(state[2], weighted);
  Value error = squaredError(t, label, in.prediction);
  Value residual = added(state[3], t.mul(error, weight));
  Value count = added(state[4], weight);
  Value total = t.sub(squares, t.mul(sum, t.div(sum, count)));
  Value score = t.sub(1.0, t.div(residual, total));
  Value isInfinite = t.compare(CompareKind::EQ, t.make<AbsOp>(score), INFINITY);
  score = t.select(isInfinite, t.splat(0, score), score);
  if (aggregation == "uniform_average")
    score = t.meanAll(score);
  else if (aggregation)
    score = t.div(t.sumAll(t.mul(total, score)), t.sumAll(total));
  return {score, {number, squares, sum, residual, count}};
}

MetricResult RootMeanSquaredError::compute(Tensors &t, const MetricInputs &in,
                                           ArrayRef<Value> state) const {
  Value error = squaredError(t, in.prediction, in.label);
  WeightedSum sums =
      weightedSum(t, error, in.weight ? in.weight : t.splat(1, error));
  Value total = t.add(state[0], sums.total);
  Value count = t.add(state[1], sums.count);
  return {t.make<SqrtOp>(quotient(t, total, count)), {total, count}};
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

Value IoU::predicted(Tensors &t, Value prediction) const {
  return hasSparsePredictions ? t.toInteger(prediction) : t.argmax(prediction);
}

MetricResult IoU::compute(Tensors &t, const MetricInputs &in,
                          ArrayRef<Value> state) const {
  Value label = hasSparseLabels ? t.toInteger(in.label) : t.argmax(in.label);
  Value prediction = predicted(t, in.prediction);
  auto counts = [&](Value x) {
    return t.make<AndOp>(t.compare(CompareKind::GE, x, 0),
                         t.compare(CompareKind::LT, x, double(classes)));
  };
  Value isCounted = t.make<AndOp>(counts(label), counts(prediction));
  if (ignoreClass)
    isCounted = t.make<AndOp>(
        isCounted, t.compare(CompareKind::NE, label, double(*ignoreClass)));
  Value weight = t.toFloat(isCounted);
  if (in.weight) {
    // The weights are truncated if the matrix counts integers.
    Value given = in.weight;
    if (countsIntegers())
      given = t.toFloat(t.toInteger(given));
    weight = t.mul(weight, weightsLike(t, given, weight));
  }
  SmallVector<int64_t> shape(t.shape(label)), dims;
  for (int64_t dim = 0; dim < t.rank(label); ++dim)
    dims.push_back(dim);
  shape.push_back(classes);
  Value like = t.splat(0, RankedTensorType::get(shape, t.builder.getF32Type()));
  Value rows =
      t.mul(t.oneHot(label, like), t.spread(weight, like, {t.last(like)}));
  Value added = t.make<DotOp>(rows, t.oneHot(prediction, like), dims, dims);
  Value matrix = t.add(state[0], countsIntegers() ? t.toInteger(added) : added);
  Value real = t.toFloat(matrix);
  auto positions = [&](int64_t dim) {
    return t.make<IotaOp>(tensorType(matrix), t.builder.getI64IntegerAttr(dim),
                          Value());
  };
  Value isRight = t.compare(CompareKind::EQ, positions(0), positions(1));
  Value right =
      t.reduce(ReduceKind::Sum, t.select(isRight, real, t.splat(0, real)), {1});
  Value either = t.sub(t.add(t.reduce(ReduceKind::Sum, real, {0}),
                             t.reduce(ReduceKind::Sum, real, {1})),
                       right);
  std::vector<double> times(classes);
  for (int64_t target : targets)
    times[target] += 1;
  Value chosen = t.row(times, right);
  Value isValid = t.compare(CompareKind::GT, either, 1e-9);
  Value share = t.div(right, t.add(either, kEpsilon));
  share = t.mul(t.select(isValid, share, t.splat(0, share)), chosen);
  Value number = t.sumAll(t.mul(t.toFloat(isValid), chosen));
  return {t.div(t.sumAll(share), t.add(number, kEpsilon)), {matrix}};
}
