//===- Crossentropies.cpp - losses of probabilities -----------------------===//

#include "weft/compiler/frontends/keras/losses/Crossentropies.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// Clips to epsilon .. 1 - epsilon.
static Value clipped(Tensors &t, Value x) {
  return t.min(t.max(x, kEpsilon), 1 - kEpsilon);
}

/// The predictions divided by their sum along the last dimension, clipped.
static Value share(Tensors &t, Value prediction) {
  int64_t dims[] = {t.last(prediction)};
  Value total = t.reduce(ReduceKind::Sum, prediction, dims);
  return clipped(t, t.div(prediction, t.spread(total, prediction, dims)));
}

Value Crossentropy::logProbabilities(Tensors &t, Value prediction) const {
  return fromLogits ? t.logSoftmax(prediction)
                    : t.make<LogOp>(share(t, prediction));
}

Value Crossentropy::crossentropy(Tensors &t, Value label,
                                 Value prediction) const {
  Value product = t.mul(label, logProbabilities(t, prediction));
  return t.neg(t.reduce(ReduceKind::Sum, product, {t.last(prediction)}));
}

Value SmoothedCrossentropy::smoothed(Tensors &t, Value label,
                                     double classes) const {
  return labelSmoothing == 0 ? label
                             : t.add(t.mul(label, 1 - labelSmoothing),
                                     labelSmoothing / classes);
}

Value SmoothedCrossentropy::axisLast(Tensors &t, Value x) const {
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
static Value binary(Tensors &t, Value label, Value probability) {
  Value p = clipped(t, probability);
  Value yes = t.mul(label, t.make<LogOp>(p));
  Value no = t.mul(t.sub(1.0, label), t.make<LogOp>(t.sub(1.0, p)));
  return t.neg(t.add(yes, no));
}

Value BinaryCrossentropy::values(Tensors &t, Value label,
                                 Value prediction) const {
  label = smoothed(t, label, 2);
  if (!fromLogits)
    return meanOfAxis(t, binary(t, label, prediction));
  // log sigmoid(x) = -softplus(-x); log sigmoid(-x) = -softplus(x).
  Value no = t.mul(t.sub(1.0, label), t.softplus(prediction));
  Value yes = t.mul(label, t.softplus(t.neg(prediction)));
  return meanOfAxis(t, t.add(yes, no));
}

/// x^gamma.
static Value powered(Tensors &t, Value x, double gamma) {
  return t.make<PowOp>(x, t.splat(gamma, x));
}

Value BinaryFocalCrossentropy::values(Tensors &t, Value label,
                                      Value prediction) const {
  label = smoothed(t, label, 2);
  Value no = t.sub(1.0, label);
  if (fromLogits)
    prediction = t.make<LogisticOp>(prediction);
  Value loss = binary(t, label, prediction);
  Value right =
      t.add(t.mul(label, prediction), t.mul(no, t.sub(1.0, prediction)));
  loss = t.mul(powered(t, t.sub(1.0, right), gamma), loss);
  if (applyClassBalancing)
    loss = t.mul(t.add(t.mul(label, alpha), t.mul(no, 1 - alpha)), loss);
  return meanOfAxis(t, loss);
}

Value CategoricalCrossentropy::values(Tensors &t, Value label,
                                      Value prediction) const {
  label = smoothed(t, label, double(t.size(label, -1)));
  return crossentropy(t, axisLast(t, label), axisLast(t, prediction));
}

Value CategoricalFocalCrossentropy::values(Tensors &t, Value label,
                                           Value prediction) const {
  label = axisLast(t, smoothed(t, label, double(t.size(label, -1))));
  prediction = axisLast(t, prediction);
  int64_t dims[] = {t.last(prediction)};
  if (fromLogits)
    prediction = t.softmax(prediction, dims);
  Value p = share(t, prediction);
  Value loss = t.mul(t.neg(label), t.make<LogOp>(p));
  Value factor = t.mul(powered(t, t.sub(1.0, p), gamma), alpha);
  return t.reduce(ReduceKind::Sum, t.mul(factor, loss), dims);
}

Value SparseCategoricalCrossentropy::mask(Tensors &t, Value label,
                                          Value) const {
  return ignoreClass ? t.compare(CompareKind::NE, label, double(*ignoreClass))
                     : Value();
}

Value SparseCategoricalCrossentropy::values(Tensors &t, Value label,
                                            Value prediction) const {
  Value counts = mask(t, label, {});
  if (!counts)
    return crossentropy(t, t.oneHot(label, prediction), prediction);
  label = t.select(counts, label, t.splat(0, label));
  Value everywhere = t.spread(counts, prediction, {t.last(prediction)});
  prediction = t.select(everywhere, prediction, t.splat(0, prediction));
  Value loss = crossentropy(t, t.oneHot(label, prediction), prediction);
  return t.select(counts, loss, t.splat(0, loss));
}

Value CategoricalGeneralizedCrossEntropy::values(Tensors &t, Value label,
                                                 Value prediction) const {
  Value right = t.mul(prediction, t.oneHot(label, prediction));
  Value p = t.reduce(ReduceKind::Sum, right, {t.last(prediction)});
  return t.div(t.sub(1.0, powered(t, p, q)), q);
}
