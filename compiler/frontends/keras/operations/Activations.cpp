//===- Activations.cpp - activations as functions of keras.ops ------------===//

#include "weft/compiler/frontends/keras/activations/Activation.h"
#include "weft/compiler/frontends/keras/activations/Formulas.h"
#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The row of a function that keras.activations has, too.
static OperationRow named(const char *name, const char *activation) {
  ActivationPtr function = activationTable().make(activation);
  return operation(name, {"x"}, {}, [function](OperationCall &a) {
    return function->apply(a.t, a.floats("x"));
  });
}
using NumberFormula = Value (*)(Tensors &, Value, double);
static OperationRow withNumber(const char *name, OperationParameter parameter,
                               NumberFormula formula) {
  return operation(name, {"x"}, {parameter},
                   [formula, key = parameter.name](OperationCall &a) {
                     return formula(a.t, a.floats("x"), a.number(key));
                   });
}

/// max(x, 0), of integers, too.
static Value relu(OperationCall &a) {
  return a.t.make<ReluOp>(asNumbers(a.t, a.tensor("x")));
}
static Value softShrink(Tensors &t, Value x, double threshold) {
  Value below = t.select(t.compare(CompareKind::LT, x, -threshold),
                         t.add(x, threshold), t.splat(0, x));
  return t.select(t.compare(CompareKind::GT, x, threshold),
                  t.add(x, -threshold), below);
}
static Value hardShrink(Tensors &t, Value x, double threshold) {
  Value outside = t.compare(CompareKind::GT, t.make<AbsOp>(x), threshold);
  return t.select(outside, x, t.splat(0, x));
}
/// (x + sqrt(x^2 + b)) / 2.
static Value squareplus(Tensors &t, Value x, double b) {
  return t.div(t.add(x, t.make<SqrtOp>(t.add(t.mul(x, x), b))), 2.0);
}
/// max(x, 0) + alpha (e^(min(x, 0) / alpha) - 1).
static Value celu(Tensors &t, Value x, double alpha) {
  Value below = t.make<Expm1Op>(t.div(t.min(x, 0), alpha));
  return t.add(t.max(x, 0), t.mul(below, alpha));
}
static Value gelu(OperationCall &a) {
  Tensors &t = a.t;
  Value x = a.floats("x");
  if (!a.flag("approximate"))
    return activationTable().make("gelu")->apply(t, x);
  Value cube = t.mul(t.mul(x, x), x);
  Value inside =
      t.mul(t.add(x, t.mul(cube, 0.044715)), std::sqrt(2 / std::numbers::pi));
  return t.mul(x, t.mul(t.add(t.make<TanhOp>(inside), 1.0), 0.5));
}
static Value threshold(OperationCall &a) {
  Value x = a.floats("x");
  return a.t.select(a.t.compare(CompareKind::GT, x, a.number("threshold")), x,
                    a.t.splat(a.number("default_value"), x));
}
/// Half of the dimension, times the sigmoid of the other half.
static Value glu(OperationCall &a) {
  Tensors &t = a.t;
  Value x = a.floats("x");
  if (!a.check(t.rank(x) > 0, "takes no scalar"))
    return x;
  int64_t dim = a.dim("axis", t.rank(x)), size = t.size(x, dim);
  if (!a.check(size % 2 == 0,
               "\"axis\" has the odd size " + std::to_string(size)))
    return x;
  return t.mul(t.slice(x, dim, 0, size / 2),
               t.make<LogisticOp>(t.slice(x, dim, size / 2, size)));
}
static Value softmax(OperationCall &a) {
  Value x = a.floats("x");
  return a.t.softmax(x, a.dims("axis", x));
}
static Value logSoftmax(OperationCall &a) {
  Tensors &t = a.t;
  Value x = a.floats("x");
  SmallVector<int64_t> dims = a.dims("axis", x);
  Value largest = t.reduce(ReduceKind::Max, t.stopGradient(x), dims);
  Value shifted = t.sub(x, t.spread(largest, x, dims));
  Value total = t.reduce(ReduceKind::Sum, t.make<ExpOp>(shifted), dims);
  return t.sub(shifted, t.spread(t.make<LogOp>(total), x, dims));
}

std::vector<OperationRow> weft::keras::activationOperations() {
  return {withNumber("Celu", {"alpha", "1.0"}, celu),
          withNumber("Elu", {"alpha", "1.0"}, elu),
          operation("Gelu", {"x"}, {{"approximate", "true"}}, gelu),
          operation("Glu", {"x"}, {{"axis", "-1"}}, glu),
          withNumber("HardShrink", {"threshold", "0.5"}, hardShrink),
          named("HardSigmoid", "hard_sigmoid"),
          named("HardSilu", "hard_silu"),
          named("HardTanh", "hard_tanh"),
          withNumber("LeakyRelu", {"negative_slope", "0.2"}, leakyRelu),
          named("LogSigmoid", "log_sigmoid"),
          operation("LogSoftmax", {"x"}, {{"axis", "-1"}}, logSoftmax),
          operation("Relu", {"x"}, {}, relu),
          named("Relu6", "relu6"),
          named("Selu", "selu"),
          named("Sigmoid", "sigmoid"),
          named("Silu", "silu"),
          withNumber("SoftShrink", {"threshold", "0.5"}, softShrink),
          operation("Softmax", {"x"}, {{"axis", "-1"}}, softmax),
          named("Softplus", "softplus"),
          named("Softsign", "softsign"),
          named("SparsePlus", "sparse_plus"),
          named("SparseSigmoid", "sparse_sigmoid"),
          withNumber("Squareplus", {"b", "4"}, squareplus),
          named("TanhShrink", "tanh_shrink"),
          operation("Threshold", {"x"}, {{"threshold"}, {"default_value"}},
                    threshold)};
}
