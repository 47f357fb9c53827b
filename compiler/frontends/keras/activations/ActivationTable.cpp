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

Value weft::keras::leakyRelu(Tensors &t, Value x, double slope) {
  return t.select(t.compare(CompareKind::GE, x, 0), x, t.mul(x, slope));
}

Value weft::keras::elu(Tensors &t, Value x, double alpha) {
  Value positive = t.compare(CompareKind::GT, x, 0);
  Value below = t.select(positive, t.splat(0, x), x);
  return t.select(positive, x, t.mul(t.make<Expm1Op>(below), alpha));
}

static Value identity(Tensors &, Value x) { return x; }
static Value relu(Tensors &t, Value x) { return t.make<ReluOp>(x); }
/// The clamp to [0, 6], whose derivative is 0 at 0 and 6.
static Value relu6(Tensors &t, Value x) { return t.clamp(x, 0, 6); }
static Value sigmoid(Tensors &t, Value x) { return t.make<LogisticOp>(x); }
static Value tanhOf(Tensors &t, Value x) { return t.make<TanhOp>(x); }
static Value exponential(Tensors &t, Value x) { return t.make<ExpOp>(x); }
static Value silu(Tensors &t, Value x) { return t.mul(x, sigmoid(t, x)); }
static Value softplus(Tensors &t, Value x) { return t.softplus(x); }
static Value eluOf1(Tensors &t, Value x) { return elu(t, x, 1); }
static Value leakyReluOf02(Tensors &t, Value x) { return leakyRelu(t, x, 0.2); }
static Value logSoftmax(Tensors &t, Value x) { return t.logSoftmax(x); }
static Value softmax(Tensors &t, Value x) { return t.softmax(x, {t.last(x)}); }

/// x * Phi(x) with the complementary error function, Keras' default.
static Value gelu(Tensors &t, Value x) {
  return t.mul(t.mul(x, 0.5), t.make<ErfcOp>(t.mul(t.neg(x), std::sqrt(0.5))));
}

static Value selu(Tensors &t, Value x) {
  return t.mul(elu(t, x, 1.6732632423543772), 1.0507009873554805);
}

static Value hardSigmoid(Tensors &t, Value x) {
  return t.div(relu6(t, t.add(x, 3.0)), 6.0);
}

static Value hardSilu(Tensors &t, Value x) {
  return t.mul(x, hardSigmoid(t, x));
}

static Value softsign(Tensors &t, Value x) {
  return t.div(x, t.add(t.make<AbsOp>(x), 1.0));
}

static Value mish(Tensors &t, Value x) {
  return t.mul(x, t.make<TanhOp>(t.softplus(x)));
}

static Value logSigmoid(Tensors &t, Value x) {
  return t.neg(t.softplus(t.neg(x)));
}

static Value tanhShrink(Tensors &t, Value x) { return t.sub(x, tanhOf(t, x)); }

static Value hardTanh(Tensors &t, Value x) {
  Value inside = t.select(t.compare(CompareKind::LT, x, -1), t.splat(-1, x), x);
  return t.select(t.compare(CompareKind::GT, x, 1), t.splat(1, x), inside);
}

static Value hardShrink(Tensors &t, Value x) {
  Value outside = t.compare(CompareKind::GT, t.make<AbsOp>(x), 0.5);
  return t.select(outside, x, t.splat(0, x));
}

static Value softShrink(Tensors &t, Value x) {
  Value below = t.select(t.compare(CompareKind::LT, x, -0.5), t.add(x, 0.5),
                         t.splat(0, x));
  return t.select(t.compare(CompareKind::GT, x, 0.5), t.add(x, -0.5), below);
}

/// (x + sqrt(x^2 + 4)) / 2.
static Value squareplus(Tensors &t, Value x) {
  Value root = t.make<SqrtOp>(t.add(t.mul(x, x), 4.0));
  return t.div(t.add(x, root), 2.0);
}

static Value sparsePlus(Tensors &t, Value x) {
  Value raised = t.add(x, 1.0);
  Value between = t.div(t.mul(raised, raised), 4.0);
  Value above = t.select(t.compare(CompareKind::GE, x, 1), x, between);
  return t.select(t.compare(CompareKind::LE, x, -1), t.splat(0, x), above);
}

static Value sparseSigmoid(Tensors &t, Value x) {
  return t.mul(t.min(t.max(t.add(x, 1.0), 0), 2), 0.5);
}

static Value celu(Tensors &t, Value x) {
  return t.add(t.max(x, 0), t.make<Expm1Op>(t.min(x, 0)));
}

namespace {
template <Value (*function)(Tensors &, Value)>
class Function : public Activation {
  Value apply(Tensors &t, Value x) const override { return function(t, x); }
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
