//===- ActivationTable.cpp - the activations of Keras ---------------------===//
//
// Each function computes the activation of the same name in keras.activations
// (3.15.1) on JAX, operation by operation.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/keras/activations/Activation.h"
#include "weft/compiler/frontends/keras/activations/Formulas.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Tensor weft::keras::leakyRelu(Tensors &t, Tensor x, double slope) {
  return select(x >= 0, x, x * slope);
}

Tensor weft::keras::elu(Tensors &t, Tensor x, double alpha) {
  Tensor positive = x > 0;
  Tensor below = select(positive, 0, x);
  return select(positive, x, expm1(below) * alpha);
}

static Tensor identity(Tensors &, Tensor x) { return x; }
static Tensor relu(Tensors &t, Tensor x) { return relu(x); }
/// The clamp to [0, 6], whose derivative is 0 at 0 and 6.
static Tensor relu6(Tensors &t, Tensor x) { return t.clamp(x, 0, 6); }
static Tensor sigmoid(Tensors &t, Tensor x) { return logistic(x); }
static Tensor tanhOf(Tensors &t, Tensor x) { return tanh(x); }
static Tensor exponential(Tensors &t, Tensor x) { return exp(x); }
static Tensor silu(Tensors &t, Tensor x) { return x * sigmoid(t, x); }
static Tensor softplus(Tensors &t, Tensor x) { return t.softplus(x); }
static Tensor eluOf1(Tensors &t, Tensor x) { return elu(t, x, 1); }
static Tensor leakyReluOf02(Tensors &t, Tensor x) {
  return leakyRelu(t, x, 0.2);
}
static Tensor logSoftmax(Tensors &t, Tensor x) { return t.logSoftmax(x); }
static Tensor softmax(Tensors &t, Tensor x) {
  return t.softmax(x, {t.last(x)});
}

/// x * Phi(x) with the complementary error function, Keras' default.
static Tensor gelu(Tensors &t, Tensor x) {
  return x * 0.5 * erfc(-x * std::sqrt(0.5));
}

static Tensor selu(Tensors &t, Tensor x) {
  return elu(t, x, 1.6732632423543772) * 1.0507009873554805;
}

static Tensor hardSigmoid(Tensors &t, Tensor x) {
  return relu6(t, x + 3.0) / 6.0;
}

static Tensor hardSilu(Tensors &t, Tensor x) { return x * hardSigmoid(t, x); }

static Tensor softsign(Tensors &t, Tensor x) { return x / (abs(x) + 1.0); }

static Tensor mish(Tensors &t, Tensor x) { return x * tanh(t.softplus(x)); }

static Tensor logSigmoid(Tensors &t, Tensor x) { return -t.softplus(-x); }

static Tensor tanhShrink(Tensors &t, Tensor x) { return x - tanhOf(t, x); }

static Tensor hardTanh(Tensors &t, Tensor x) {
  Tensor inside = select(x < -1, -1, x);
  return select(x > 1, 1, inside);
}

static Tensor hardShrink(Tensors &t, Tensor x) {
  Tensor outside = abs(x) > 0.5;
  return select(outside, x, 0);
}

static Tensor softShrink(Tensors &t, Tensor x) {
  Tensor below = select(x < -0.5, x + 0.5, 0);
  return select(x > 0.5, x + -0.5, below);
}

/// (x + sqrt(x^2 + 4)) / 2.
static Tensor squareplus(Tensors &t, Tensor x) {
  Tensor root = sqrt(x * x + 4.0);
  return (x + root) / 2.0;
}

static Tensor sparsePlus(Tensors &t, Tensor x) {
  Tensor raised = x + 1.0;
  Tensor between = raised * raised / 4.0;
  Tensor above = select(x >= 1, x, between);
  return select(x <= -1, 0, above);
}

static Tensor sparseSigmoid(Tensors &t, Tensor x) {
  return min(max(x + 1.0, 0), 2) * 0.5;
}

static Tensor celu(Tensors &t, Tensor x) {
  return max(x, 0) + expm1(min(x, 0));
}

namespace {
template <Tensor (*function)(Tensors &, Tensor)>
class Function : public Activation {
  Tensor apply(Tensors &t, Tensor x) const override { return function(t, x); }
};
} // namespace

const Table<Activation> &weft::keras::activationTable() {
  static const Table<Activation> table = {
      {"activation",
       "activations",
       {row<Function<celu>>("celu"),
        row<Function<eluOf1>>("elu"),
        row<Function<exponential>>("exponential"),
        row<Function<gelu>>("gelu"),
        row<Function<hardShrink>>("hard_shrink"),
        row<Function<hardSigmoid>>("hard_sigmoid"),
        row<Function<hardSilu>>("hard_silu", {"hard_swish"}),
        row<Function<hardTanh>>("hard_tanh"),
        row<Function<leakyReluOf02>>("leaky_relu"),
        row<Function<identity>>("linear"),
        row<Function<logSigmoid>>("log_sigmoid"),
        row<Function<logSoftmax>>("log_softmax"),
        row<Function<mish>>("mish"),
        row<Function<relu>>("relu"),
        row<Function<relu6>>("relu6"),
        row<Function<selu>>("selu"),
        row<Function<sigmoid>>("sigmoid"),
        row<Function<silu>>("silu", {"swish"}),
        row<Function<softShrink>>("soft_shrink"),
        row<Function<softmax>>("softmax"),
        row<Function<softplus>>("softplus"),
        row<Function<softsign>>("softsign"),
        row<Function<sparsePlus>>("sparse_plus"),
        row<Function<sparseSigmoid>>("sparse_sigmoid"),
        row<Function<squareplus>>("squareplus"),
        row<Function<tanhOf>>("tanh"),
        row<Function<tanhShrink>>("tanh_shrink")},
       "linear"}};
  return table;
}
