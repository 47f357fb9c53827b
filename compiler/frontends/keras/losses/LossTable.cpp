//===- LossTable.cpp - the losses of Keras --------------------------------===//

#include "weft/compiler/frontends/keras/losses/CTC.h"
#include "weft/compiler/frontends/keras/losses/Crossentropies.h"

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

/// 2 label - 1 if every label of the batch is 0 or 1, else the labels.
static Value hingeLabels(Tensors &t, Value label) {
  Value isBinary = t.make<OrOp>(t.compare(CompareKind::EQ, label, 0),
                                t.compare(CompareKind::EQ, label, 1));
  Value areBinary = t.reduce(ReduceKind::And, isBinary, t.allDims(isBinary));
  return t.select(t.fill(areBinary, label), t.add(t.mul(label, 2), -1.0),
                  label);
}

Value weft::keras::hinge(Tensors &t, Value label, Value prediction) {
  Value side = hingeLabels(t, label);
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

void Loss::options(Options &o) {
  o.ignored("name", "a name for messages");
  o.choice("reduction", reduction,
           {"sum_over_batch_size", "mean", "mean_with_sample_weight", "sum"});
  o.ignored("dtype", "losses are float32");
  o.ignored("fn", "the function of the class's name");
  ownOptions(o);
}

Value Loss::mask(Tensors &, Value, Value) const { return {}; }

Value weft::keras::quotient(Tensors &t, Value a, Value b) {
  Value isEmpty = t.compare(CompareKind::EQ, b, 0);
  Value divisor = t.select(isEmpty, t.splat(1, b), b);
  return t.select(isEmpty, t.splat(0, a), t.div(a, divisor));
}

bool weft::keras::paired(Tensors &t, Value &values, Value &weights) {
  auto changed = [&](Value &x, bool isLonger) {
    SmallVector<int64_t> shape(t.shape(x));
    isLonger ? shape.push_back(1) : shape.pop_back();
    x = t.reshape(x, shape);
  };
  if (t.rank(values) == 0)
    values = t.fill(values, weights);
  if (t.rank(weights) == 1 && t.rank(values) > 1) {
    weights = t.along(weights, values, 0);
    return true;
  }
  if (t.rank(values) == t.rank(weights) + 1 && t.size(values, -1) == 1)
    changed(values, false);
  else if (t.rank(weights) == t.rank(values) + 1 && t.size(weights, -1) == 1)
    t.rank(values) == 1 ? changed(values, true) : changed(weights, false);
  if (t.rank(values) != t.rank(weights))
    return false;
  SmallVector<int64_t> shape;
  for (auto [a, b] : llvm::zip(t.shape(values), t.shape(weights))) {
    if (a != b && a != 1 && b != 1)
      return false;
    shape.push_back(std::max(a, b));
  }
  values = t.stretch(values, shape);
  weights = t.stretch(weights, shape);
  return true;
}

Value Loss::reduced(Tensors &t, Value label, Value prediction, Value weight,
                    Value inMask, std::string &complaint) const {
  prediction = t.toFloat(prediction);
  Value each = values(t, label, prediction);
  Value given = weight;
  Value counted = mask(t, label, each);
  if (inMask)
    counted = counted ? t.make<AndOp>(inMask, counted) : inMask;
  if (counted) {
    Value share = t.toFloat(counted);
    if (reduction == "sum_over_batch_size" || reduction == "mean") {
      // The elements that count have the weight total / counted, as in Keras'
      // apply_mask.
      Value total = t.splat(double(tensorType(share).getNumElements()),
                            RankedTensorType::get({}, t.builder.getF32Type()));
      Value scale = quotient(t, total, t.sumAll(share));
      share = t.select(counted, t.fill(scale, share), t.splat(0, share));
    }
    bool fits = !weight || paired(t, share, weight);
    weight = weight && fits ? t.mul(weight, share) : share;
    given = weight;
  }
  if (weight && !paired(t, each, weight)) {
    complaint = "its values have the shape " + shapeText(t.shape(each)) +
                ", the weights " + shapeText(t.shape(weight)) +
                "; give one weight for each value, or for each sample";
    return t.meanAll(each);
  }
  if (weight)
    each = t.mul(each, weight);
  if (reduction == "sum")
    return t.sumAll(each);
  if (reduction == "mean_with_sample_weight" && weight)
    return quotient(t, t.sumAll(each),
                    t.sumAll(t.rank(given) > 1 ? given : weight));
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
        row<BinaryFocalCrossentropy>("BinaryFocalCrossentropy"),
        row<CategoricalFocalCrossentropy>("CategoricalFocalCrossentropy"),
        row<CategoricalGeneralizedCrossEntropy>(
            "CategoricalGeneralizedCrossEntropy"),
        row<CTC>("CTC"),
        row<CosineSimilarity>("CosineSimilarity"),
        row<Circle>("Circle"),
        row<Dice>("Dice"),
        row<Tversky>("Tversky"),
        row<CategoricalHinge>("CategoricalHinge"),
        row<MeanOf<hinge>>("Hinge"),
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
