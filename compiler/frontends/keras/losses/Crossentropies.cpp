//===- Crossentropies.cpp - losses of probabilities -----------------------===//

#include "weft/compiler/frontends/keras/losses/Crossentropies.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// Clips to epsilon .. 1 - epsilon.
static Tensor clipped(Tensor x) { return min(max(x, kEpsilon), 1 - kEpsilon); }

/// The predictions divided by their sum along the last dimension, clipped.
static Tensor share(Tensors &t, Tensor prediction) {
  int64_t dims[] = {t.last(prediction)};
  Tensor total = t.reduce(ReduceKind::Sum, prediction, dims);
  return clipped(prediction / t.spread(total, prediction, dims));
}

Tensor Crossentropy::logProbabilities(Tensors &t, Tensor prediction) const {
  return fromLogits ? t.logSoftmax(prediction) : log(share(t, prediction));
}

Tensor Crossentropy::crossentropy(Tensors &t, Tensor label,
                                  Tensor prediction) const {
  Tensor product = label * logProbabilities(t, prediction);
  return -t.reduce(ReduceKind::Sum, product, {t.last(prediction)});
}

Tensor SmoothedCrossentropy::smoothed(Tensors &t, Tensor label,
                                      double classes) const {
  return labelSmoothing == 0
             ? label
             : label * (1 - labelSmoothing) + labelSmoothing / classes;
}

Tensor SmoothedCrossentropy::axisLast(Tensors &t, Tensor x) const {
  int64_t dim = t.dims(x, {axis})[0];
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < t.rank(x); ++i)
    if (i != dim)
      order.push_back(i);
  order.push_back(dim);
  return dim == t.last(x) ? x : t.transpose(x, order);
}

std::string
SmoothedCrossentropy::complaint(llvm::ArrayRef<int64_t> sample) const {
  int64_t rank = int64_t(sample.size()) + 1,
          dim = axis < 0 ? axis + rank : axis;
  if (dim > 0 && dim < rank)
    return "";
  return "has \"axis\" " + std::to_string(axis) + ", predictions have " +
         std::to_string(rank) +
         " dimensions, the first of which is the batch; choose another axis";
}

/// -label * log(p) - (1 - label) * log(1 - p), element by element.
static Tensor binary(Tensor label, Tensor probability) {
  Tensor p = clipped(probability);
  Tensor yes = label * log(p);
  Tensor no = (1.0 - label) * log(1.0 - p);
  return -(yes + no);
}

Tensor BinaryCrossentropy::values(Tensors &t, Tensor label,
                                  Tensor prediction) const {
  label = smoothed(t, label, 2);
  if (!fromLogits)
    return meanOfAxis(t, binary(label, prediction));
  // log sigmoid(x) = -softplus(-x); log sigmoid(-x) = -softplus(x).
  Tensor no = (1.0 - label) * t.softplus(prediction);
  Tensor yes = label * t.softplus(-prediction);
  return meanOfAxis(t, yes + no);
}

/// x^gamma.
static Tensor powered(Tensor x, double gamma) { return pow(x, gamma); }

Tensor BinaryFocalCrossentropy::values(Tensors &t, Tensor label,
                                       Tensor prediction) const {
  label = smoothed(t, label, 2);
  Tensor no = 1.0 - label;
  if (fromLogits)
    prediction = logistic(prediction);
  Tensor loss = binary(label, prediction);
  Tensor right = label * prediction + no * (1.0 - prediction);
  loss = powered(1.0 - right, gamma) * loss;
  if (applyClassBalancing)
    loss = (label * alpha + no * (1 - alpha)) * loss;
  return meanOfAxis(t, loss);
}

Tensor CategoricalCrossentropy::values(Tensors &t, Tensor label,
                                       Tensor prediction) const {
  label = smoothed(t, label, double(t.size(label, -1)));
  return crossentropy(t, axisLast(t, label), axisLast(t, prediction));
}

Tensor CategoricalFocalCrossentropy::values(Tensors &t, Tensor label,
                                            Tensor prediction) const {
  label = axisLast(t, smoothed(t, label, double(t.size(label, -1))));
  prediction = axisLast(t, prediction);
  int64_t dims[] = {t.last(prediction)};
  if (fromLogits)
    prediction = t.softmax(prediction, dims);
  Tensor p = share(t, prediction);
  Tensor loss = -label * log(p);
  Tensor factor = powered(1.0 - p, gamma) * alpha;
  return t.reduce(ReduceKind::Sum, factor * loss, dims);
}

Tensor SparseCategoricalCrossentropy::mask(Tensors &t, Tensor label,
                                           Tensor) const {
  return ignoreClass ? label != double(*ignoreClass) : Tensor();
}

Tensor SparseCategoricalCrossentropy::values(Tensors &t, Tensor label,
                                             Tensor prediction) const {
  Tensor counts = mask(t, label, {});
  if (!counts)
    return crossentropy(t, t.oneHot(label, prediction), prediction);
  label = select(counts, label, 0);
  Tensor everywhere = t.spread(counts, prediction, {t.last(prediction)});
  prediction = select(everywhere, prediction, 0);
  Tensor loss = crossentropy(t, t.oneHot(label, prediction), prediction);
  return select(counts, loss, 0);
}

Tensor CategoricalGeneralizedCrossEntropy::values(Tensors &t, Tensor label,
                                                  Tensor prediction) const {
  Tensor right = prediction * t.oneHot(label, prediction);
  Tensor p = t.reduce(ReduceKind::Sum, right, {t.last(prediction)});
  return (1.0 - powered(p, q)) / q;
}
