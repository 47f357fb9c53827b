//===- LossTable.cpp - the losses of Keras --------------------------------===//

#include "weft/compiler/frontends/keras/losses/Losses.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Value weft::keras::squaredError(Tensors &t, Value label, Value prediction) {
  Value difference = t.sub(label, prediction);
  return t.mul(difference, difference);
}

Value weft::keras::absoluteError(Tensors &t, Value label, Value prediction) {
  return t.make<AbsOp>(t.sub(label, prediction));
}

Value weft::keras::percentageError(Tensors &t, Value label, Value prediction) {
  Value size = t.max(t.make<AbsOp>(label), kEpsilon);
  Value share = t.make<AbsOp>(t.div(t.sub(label, prediction), size));
  return t.mul(share, 100);
}

Value weft::keras::squaredLogarithmicError(Tensors &t, Value label,
                                           Value prediction) {
  auto logOf = [&](Value x) {
    return t.make<LogOp>(t.add(t.max(x, kEpsilon), 1.0));
  };
  Value difference = t.sub(logOf(prediction), logOf(label));
  return t.mul(difference, difference);
}

Value weft::keras::logCosh(Tensors &t, Value label, Value prediction) {
  Value x = t.sub(prediction, label);
  return t.add(t.add(x, t.softplus(t.mul(x, -2))), -std::log(2.0));
}

Value weft::keras::poisson(Tensors &t, Value label, Value prediction) {
  Value logs = t.make<LogOp>(t.add(prediction, kEpsilon));
  return t.sub(prediction, t.mul(label, logs));
}

Value weft::keras::hinge(Tensors &t, Value label, Value prediction) {
  // A label of 0 is one of -1.
  Value isNo = t.compare(CompareKind::EQ, label, 0);
  Value side = t.select(isNo, t.splat(-1, label), label);
  return t.max(t.sub(1.0, t.mul(side, prediction)), 0);
}

Value weft::keras::squaredHinge(Tensors &t, Value label, Value prediction) {
  Value one = hinge(t, label, prediction);
  return t.mul(one, one);
}

Value Huber::values(Tensors &t, Value label, Value prediction) const {
  Value error = t.sub(prediction, label), size = t.make<AbsOp>(error);
  Value square = t.mul(t.mul(error, error), 0.5);
  Value isNear = t.compare(CompareKind::LE, size, 1);
  return t.mean(t.select(isNear, square, t.add(size, -0.5)),
                {t.last(prediction)});
}

Value KLDivergence::values(Tensors &t, Value label, Value prediction) const {
  label = t.min(t.max(label, kEpsilon), 1);
  prediction = t.min(t.max(prediction, kEpsilon), 1);
  Value logs = t.make<LogOp>(t.div(label, prediction));
  return t.reduce(ReduceKind::Sum, t.mul(label, logs), {t.last(prediction)});
}

Value CategoricalHinge::values(Tensors &t, Value label,
                               Value prediction) const {
  int64_t dims[] = {t.last(prediction)};
  Value right = t.reduce(ReduceKind::Sum, t.mul(label, prediction), dims);
  Value wrong =
      t.reduce(ReduceKind::Max, t.mul(t.sub(1.0, label), prediction), dims);
  return t.max(t.add(t.sub(wrong, right), 1.0), 0);
}

Value Crossentropy::logProbabilities(Tensors &t, Value prediction) const {
  if (fromLogits)
    return t.logSoftmax(prediction);
  int64_t dims[] = {t.last(prediction)};
  Value total = t.reduce(ReduceKind::Sum, prediction, dims);
  Value share = t.div(prediction, t.spread(total, prediction, dims));
  return t.make<LogOp>(t.min(t.max(share, kEpsilon), 1 - kEpsilon));
}

Value Crossentropy::crossentropy(Tensors &t, Value label,
                                 Value prediction) const {
  Value product = t.mul(label, logProbabilities(t, prediction));
  return t.neg(t.reduce(ReduceKind::Sum, product, {t.last(prediction)}));
}

void BinaryCrossentropy::ownOptions(Options &o) {
  o.flag("from_logits", fromLogits);
  o.number("label_smoothing", labelSmoothing, kShare);
  o.refused("axis", "classes along another axis", "-1");
}

Value BinaryCrossentropy::values(Tensors &t, Value label,
                                 Value prediction) const {
  if (labelSmoothing != 0)
    label = t.add(t.mul(label, 1 - labelSmoothing), 0.5 * labelSmoothing);
  Value no = t.sub(1.0, label), out;
  if (fromLogits) {
    // log sigmoid(x) = -softplus(-x); log sigmoid(-x) = -softplus(x).
    Value yes = t.mul(label, t.softplus(t.neg(prediction)));
    out = t.add(yes, t.mul(no, t.softplus(prediction)));
  } else {
    Value p = t.min(t.max(prediction, kEpsilon), 1 - kEpsilon);
    Value yes = t.mul(label, t.make<LogOp>(p));
    out = t.neg(t.add(yes, t.mul(no, t.make<LogOp>(t.sub(1.0, p)))));
  }
  return t.mean(out, {t.last(prediction)});
}

void CategoricalCrossentropy::ownOptions(Options &o) {
  o.flag("from_logits", fromLogits);
  o.number("label_smoothing", labelSmoothing, kShare);
  o.refused("axis", "classes along another axis", "-1");
}

Value CategoricalCrossentropy::values(Tensors &t, Value label,
                                      Value prediction) const {
  if (labelSmoothing != 0)
    label = t.add(t.mul(label, 1 - labelSmoothing),
                  labelSmoothing / double(t.size(label, -1)));
  return crossentropy(t, label, prediction);
}

void SparseCategoricalCrossentropy::ownOptions(Options &o) {
  o.refused("ignore_class", "a class that counts for nothing");
  o.flag("from_logits", fromLogits);
  o.refused("axis", "classes along another axis", "-1");
}

Value SparseCategoricalCrossentropy::values(Tensors &t, Value label,
                                            Value prediction) const {
  return crossentropy(t, t.oneHot(label, prediction), prediction);
}

void Loss::options(Options &o) {
  o.ignored("name", "a name for messages");
  o.choice("reduction", reduction,
           {"sum_over_batch_size", "mean", "mean_with_sample_weight", "sum"});
  o.ignored("dtype", "losses are float32");
  o.ignored("fn", "the function of the class's name");
  ownOptions(o);
}

/// A weight for each value: a mean over all of them becomes one over those that
/// the mask leaves.
static Value weightOf(Tensors &t, Value mask, bool isMean) {
  Value bits = t.toFloat(mask);
  if (!isMean)
    return bits;
  Value count = t.sumAll(bits), isEmpty = t.compare(CompareKind::EQ, count, 0);
  Value divisor = t.select(isEmpty, t.splat(1, count), count);
  Value all = t.splat(double(tensorType(mask).getNumElements()), count);
  Value each = t.select(isEmpty, t.splat(0, count), t.div(all, divisor));
  return t.select(mask, t.fill(each, bits), t.splat(0, bits));
}

Value Loss::reduced(Tensors &t, Value label, Value prediction, Value weight,
                    Value mask) const {
  prediction = t.toFloat(prediction);
  Value each = values(t, label, prediction);
  if (weight && t.rank(each) != 1)
    weight =
        t.make<BroadcastOp>(weight, t.shape(each), llvm::ArrayRef<int64_t>{0});
  if (mask) {
    bool isMean = reduction == "sum_over_batch_size" || reduction == "mean";
    Value share = weightOf(t, mask, isMean);
    weight = weight ? t.mul(weight, share) : share;
  }
  if (weight)
    each = t.mul(each, weight);
  if (reduction == "sum")
    return t.sumAll(each);
  if (reduction == "mean_with_sample_weight" && weight) {
    // A total of zero gives a loss of zero (divide_no_nan).
    Value total = t.sumAll(weight),
          isEmpty = t.compare(CompareKind::EQ, total, 0);
    Value divisor = t.select(isEmpty, t.splat(1, total), total);
    return t.select(isEmpty, t.splat(0, total), t.div(t.sumAll(each), divisor));
  }
  return t.meanAll(each);
}

const Table<Loss> &weft::keras::lossTable() {
  static const Table<Loss> table = {
      {"loss",
       "losses",
       {row<MeanOf<squaredError>>("MeanSquaredError", {"mse"}),
        row<MeanOf<absoluteError>>("MeanAbsoluteError", {"mae"}),
        row<BinaryCrossentropy>("BinaryCrossentropy", {"bce"}),
        row<CategoricalCrossentropy>("CategoricalCrossentropy"),
        row<SparseCategoricalCrossentropy>("SparseCategoricalCrossentropy"),
        row<CategoricalHinge>("CategoricalHinge"), row<MeanOf<hinge>>("Hinge"),
        row<Huber>("Huber"),
        row<KLDivergence>("KLDivergence",
                          {"kld", "kullback_leibler_divergence"}),
        row<MeanOf<logCosh>>("LogCosh"),
        row<MeanOf<percentageError>>("MeanAbsolutePercentageError", {"mape"}),
        row<MeanOf<squaredLogarithmicError>>("MeanSquaredLogarithmicError",
                                             {"msle"}),
        row<MeanOf<poisson>>("Poisson"),
        row<MeanOf<squaredHinge>>("SquaredHinge")}}};
  return table;
}
