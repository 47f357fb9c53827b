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
using NumberFormula = Tensor (*)(Tensors &, Tensor, double);
static OperationRow withNumber(const char *name, OperationParameter parameter,
                               NumberFormula formula) {
  return operation(name, {"x"}, {parameter},
                   [formula, key = parameter.name](OperationCall &a) {
                     return formula(a.t, a.floats("x"), a.number(key));
                   });
}

/// max(x, 0), of integers, too.
static Tensor relu(OperationCall &a) {
  return relu(asNumbers(a.t, a.tensor("x")));
}
static Tensor softShrink(Tensors &t, Tensor x, double threshold) {
  Tensor below = select(x < -threshold, x + threshold, 0);
  return select(x > threshold, x + -threshold, below);
}
static Tensor hardShrink(Tensors &t, Tensor x, double threshold) {
  Tensor outside = abs(x) > threshold;
  return select(outside, x, 0);
}
/// (x + sqrt(x^2 + b)) / 2.
static Tensor squareplus(Tensors &t, Tensor x, double b) {
  return (x + sqrt(x * x + b)) / 2.0;
}
/// max(x, 0) + alpha (e^(min(x, 0) / alpha) - 1).
static Tensor celu(Tensors &t, Tensor x, double alpha) {
  Tensor below = expm1(min(x, 0) / alpha);
  return max(x, 0) + below * alpha;
}
static Tensor gelu(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  if (!a.flag("approximate"))
    return activationTable().make("gelu")->apply(t, x);
  Tensor cube = x * x * x;
  Tensor inside = (x + cube * 0.044715) * std::sqrt(2 / std::numbers::pi);
  return x * ((tanh(inside) + 1.0) * 0.5);
}
static Tensor threshold(OperationCall &a) {
  Tensor x = a.floats("x");
  return select(x > a.number("threshold"), x, a.number("default_value"));
}
/// Half of the dimension, times the sigmoid of the other half.
static Tensor glu(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  if (!a.check(t.rank(x) > 0, "takes no scalar"))
    return x;
  int64_t dim = a.dim("axis", t.rank(x)), size = t.size(x, dim);
  if (!a.check(size % 2 == 0,
               "\"axis\" has the odd size " + std::to_string(size)))
    return x;
  return t.slice(x, dim, 0, size / 2) *
         logistic(t.slice(x, dim, size / 2, size));
}
static Tensor softmax(OperationCall &a) {
  Tensor x = a.floats("x");
  return a.t.softmax(x, a.dims("axis", x));
}
static Tensor logSoftmax(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("x");
  SmallVector<int64_t> dims = a.dims("axis", x);
  Tensor largest = t.reduce(ReduceKind::Max, t.stopGradient(x), dims);
  Tensor shifted = x - t.spread(largest, x, dims);
  Tensor total = t.reduce(ReduceKind::Sum, exp(shifted), dims);
  return shifted - t.spread(log(total), x, dims);
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
