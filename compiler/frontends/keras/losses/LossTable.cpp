//===- LossTable.cpp - the losses of Keras --------------------------------===//

#include "weft/compiler/frontends/keras/losses/CTC.h"
#include "weft/compiler/frontends/keras/losses/Crossentropies.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Tensor weft::keras::squaredError(Tensors &t, Tensor label, Tensor prediction) {
  Tensor difference = label - prediction;
  return difference * difference;
}

Tensor weft::keras::absoluteError(Tensors &t, Tensor label, Tensor prediction) {
  return abs(label - prediction);
}

Tensor weft::keras::percentageError(Tensors &t, Tensor label,
                                    Tensor prediction) {
  Tensor size = max(abs(label), kEpsilon);
  Tensor share = abs((label - prediction) / size);
  return share * 100;
}

Tensor weft::keras::squaredLogarithmicError(Tensors &t, Tensor label,
                                            Tensor prediction) {
  auto logOf = [&](Tensor x) { return log(max(x, kEpsilon) + 1.0); };
  Tensor difference = logOf(prediction) - logOf(label);
  return difference * difference;
}

Tensor weft::keras::logCosh(Tensors &t, Tensor label, Tensor prediction) {
  Tensor x = prediction - label;
  return x + t.softplus(x * -2) + -std::log(2.0);
}

Tensor weft::keras::poisson(Tensors &t, Tensor label, Tensor prediction) {
  Tensor logs = log(prediction + kEpsilon);
  return prediction - label * logs;
}

/// 2 label - 1 if every label of the batch is 0 or 1, else the labels.
static Tensor hingeLabels(Tensors &t, Tensor label) {
  Tensor isBinary = (label == 0) | (label == 1);
  Tensor areBinary = t.reduce(ReduceKind::And, isBinary, t.allDims(isBinary));
  return select(t.fill(areBinary, label), label * 2 + -1.0, label);
}

Tensor weft::keras::hinge(Tensors &t, Tensor label, Tensor prediction) {
  Tensor side = hingeLabels(t, label);
  return max(1.0 - side * prediction, 0);
}

Tensor weft::keras::squaredHinge(Tensors &t, Tensor label, Tensor prediction) {
  Tensor one = hinge(t, label, prediction);
  return one * one;
}

Tensor Huber::values(Tensors &t, Tensor label, Tensor prediction) const {
  Tensor error = prediction - label, size = abs(error);
  Tensor square = error * error * 0.5;
  Tensor isNear = size <= 1;
  return t.mean(select(isNear, square, size + -0.5), {t.last(prediction)});
}

Tensor KLDivergence::values(Tensors &t, Tensor label, Tensor prediction) const {
  label = min(max(label, kEpsilon), 1);
  prediction = min(max(prediction, kEpsilon), 1);
  Tensor logs = log(label / prediction);
  return t.reduce(ReduceKind::Sum, label * logs, {t.last(prediction)});
}

Tensor CategoricalHinge::values(Tensors &t, Tensor label,
                                Tensor prediction) const {
  int64_t dims[] = {t.last(prediction)};
  Tensor right = t.reduce(ReduceKind::Sum, label * prediction, dims);
  Tensor wrong = t.reduce(ReduceKind::Max, (1.0 - label) * prediction, dims);
  return max(wrong - right + 1.0, 0);
}

void Loss::options(Options &o) {
  o.ignored("name", "a name for messages");
  o.choice("reduction", reduction,
           {"sum_over_batch_size", "mean", "mean_with_sample_weight", "sum"});
  o.ignored("dtype", "losses are float32");
  o.ignored("fn", "the function of the class's name");
  ownOptions(o);
}

Tensor Loss::mask(Tensors &, Tensor, Tensor) const { return {}; }

Tensor weft::keras::quotient(Tensors &t, Tensor a, Tensor b) {
  Tensor isEmpty = b == 0;
  Tensor divisor = select(isEmpty, 1, b);
  return select(isEmpty, t.splat(0, a), a / divisor);
}

bool weft::keras::paired(Tensors &t, Tensor &values, Tensor &weights) {
  auto changed = [&](Tensor &x, bool isLonger) {
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

Tensor Loss::reduced(Tensors &t, Tensor label, Tensor prediction, Tensor weight,
                     Tensor inMask, std::string &complaint) const {
  prediction = t.toFloat(prediction);
  Tensor each = values(t, label, prediction);
  Tensor given = weight;
  Tensor counted = mask(t, label, each);
  if (inMask)
    counted = counted ? inMask & counted : inMask;
  if (counted) {
    Tensor share = t.toFloat(counted);
    if (reduction == "sum_over_batch_size" || reduction == "mean") {
      // The elements that count have the weight total / counted, as in Keras'
      // apply_mask.
      Tensor total = t.splat(double(tensorType(share).getNumElements()),
                             RankedTensorType::get({}, t.builder.getF32Type()));
      Tensor scale = quotient(t, total, t.sumAll(share));
      share = select(counted, t.fill(scale, share), 0);
    }
    bool fits = !weight || paired(t, share, weight);
    weight = weight && fits ? weight * share : share;
    given = weight;
  }
  if (weight && !paired(t, each, weight)) {
    complaint = "its values have the shape " + shapeText(t.shape(each)) +
                ", the weights " + shapeText(t.shape(weight)) +
                "; give one weight for each value, or for each sample";
    return t.meanAll(each);
  }
  if (weight)
    each = each * weight;
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
