//===- OptimizerTable.cpp - the optimizers of Keras -----------------------===//
//
// Each class computes the update_step of the class of the same name in
// keras.optimizers (3.15.1), operation by operation.
//
//===----------------------------------------------------------------------===//

#include "weft/base/config/Patterns.h"
#include "weft/compiler/frontends/keras/optimizers/Adafactor.h"
#include "weft/compiler/frontends/keras/optimizers/ScheduleFree.h"
#include "weft/compiler/frontends/keras/optimizers/Wrappers.h"

#include "llvm/ADT/StringRef.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

class SGD : public Optimizer {
public:
  SGD() { learningRate = 0.01; }

private:
  double momentum = 0;
  bool nesterov = false;

  void ownOptions(Options &o) override {
    o.number("momentum", momentum, kShare);
    o.flag("nesterov", nesterov);
  }
  std::vector<std::vector<SlotKind>> slots() const override {
    if (momentum == 0)
      return {};
    return {{{"momentum"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Value step = t.mul(in.gradient, t.fill(in.rate, in.gradient));
    if (momentum == 0)
      return {t.sub(in.weight, step), {}};
    Value speed = t.sub(t.mul(in.slots[0], momentum), step);
    Value change = nesterov ? t.sub(t.mul(speed, momentum), step) : speed;
    return {t.add(in.weight, change), {speed}};
  }
};

class RMSprop : public Optimizer {
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;

  void ownOptions(Options &o) override {
    o.number("rho", rho, kAnyNumber);
    o.number("momentum", momentum, kShare);
    o.number("epsilon", epsilon, kAnyNumber);
    o.flag("centered", centered);
  }
  std::vector<std::vector<SlotKind>> slots() const override {
    std::vector<std::vector<SlotKind>> out = {{{"velocity"}}};
    if (momentum > 0)
      out.push_back({{"momentum"}});
    if (centered)
      out.push_back({{"average_gradient"}});
    return out;
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    WeightUpdate out;
    Value g = in.gradient;
    Value velocity =
        t.add(t.mul(in.slots[0], rho), t.mul(t.mul(g, g), 1 - rho));
    out.slots.push_back(velocity);
    Value denominator = velocity, average;
    if (centered) {
      average = t.add(t.mul(in.slots.back(), rho), t.mul(g, 1 - rho));
      denominator = t.sub(velocity, t.mul(average, average));
    }
    denominator = t.add(denominator, epsilon);
    Value increment =
        t.div(t.mul(t.fill(in.rate, g), g), t.make<SqrtOp>(denominator));
    if (momentum > 0) {
      increment = t.add(t.mul(in.slots[1], momentum), increment);
      out.slots.push_back(increment);
    }
    if (centered)
      out.slots.push_back(average);
    out.weight = t.sub(in.weight, increment);
    return out;
  }
};

/// iteration + `ahead` in the type of `like`, and a power with this exponent.
Value stepNumber(Tensors &t, Value iteration, double ahead, Value like) {
  return t.castLike(t.add(iteration, ahead), like);
}
Value powerOf(Tensors &t, double base, Value step) {
  return t.make<PowOp>(t.splat(base, step), step);
}

/// old + (value - old) * share.
Value towards(Tensors &t, Value old, Value value, double share) {
  return t.add(old, t.mul(t.sub(value, old), share));
}

Value towards(Tensors &t, Value old, Value value, Value share) {
  return t.add(old, t.mul(t.sub(value, old), share));
}
/// 1 - share, for a share rounded to the type of `like`.
Value rest(Tensors &t, double share, Value like) {
  return t.sub(1.0, t.splat(share, like));
}

/// Adam and similar optimizers with moments.
class WithMoments : public Optimizer {
protected:
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;

  void ownOptions(Options &o) override {
    o.number("beta_1", beta1, kAnyNumber);
    o.number("beta_2", beta2, kAnyNumber);
    o.number("epsilon", epsilon, kAnyNumber);
  }
  Value newMomentum(Tensors &t, const UpdateInputs &in) const {
    return towards(t, in.slots[0], in.gradient, 1 - beta1);
  }
  Value newVelocity(Tensors &t, const UpdateInputs &in) const {
    return towards(t, in.slots[1], t.mul(in.gradient, in.gradient), 1 - beta2);
  }
};

class Adam : public WithMoments {
  bool amsgrad = false;

  void ownOptions(Options &o) override {
    WithMoments::ownOptions(o);
    o.flag("amsgrad", amsgrad);
  }
  std::vector<std::vector<SlotKind>> slots() const override {
    if (amsgrad)
      return {{{"momentum"}, {"velocity"}}, {{"velocity_hat"}}};
    return {{{"momentum"}, {"velocity"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Value step = stepNumber(t, in.iteration, 1, in.weight);
    Value power1 = powerOf(t, beta1, step), power2 = powerOf(t, beta2, step);
    Value alpha = t.div(t.mul(in.rate, t.make<SqrtOp>(t.sub(1.0, power2))),
                        t.sub(1.0, power1));
    Value m = newMomentum(t, in), v = newVelocity(t, in);
    WeightUpdate out{nullptr, {m, v}};
    if (amsgrad) {
      v = t.make<MaxOp>(in.slots[2], v);
      out.slots.push_back(v);
    }
    Value change =
        t.div(t.mul(m, t.fill(alpha, m)), t.add(t.make<SqrtOp>(v), epsilon));
    out.weight = t.sub(in.weight, change);
    return out;
  }
};

/// Adam whose weight decay is on by default.
class AdamW : public Adam {
public:
  AdamW() { weightDecay = 0.004; }
};

class Adamax : public WithMoments {
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"momentum"}, {"norm"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Value power = powerOf(t, beta1, stepNumber(t, in.iteration, 1, in.weight));
    Value m = newMomentum(t, in);
    Value u =
        t.make<MaxOp>(t.mul(in.slots[1], beta2), t.make<AbsOp>(in.gradient));
    Value divisor = t.mul(t.fill(t.sub(1.0, power), u), t.add(u, epsilon));
    Value change = t.div(t.mul(t.fill(in.rate, m), m), divisor);
    return {t.sub(in.weight, change), {m, u}};
  }
};

/// Adam with Nesterov's momentum.
class Nadam : public WithMoments {
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"momentum"}, {"velocity"}}};
  }
  std::vector<SlotKind> scalars() const override { return {{"u_product", 1}}; }
  /// beta_1 * (1 - 0.96^step / 2).
  Value factor(Tensors &t, const UpdateInputs &in, double ahead) const {
    Value power =
        powerOf(t, 0.96, stepNumber(t, in.iteration, ahead, in.weight));
    return t.mul(t.sub(1.0, t.mul(power, 0.5)), beta1);
  }
  SmallVector<Value> newScalars(Tensors &t, Value iteration,
                                ArrayRef<Value> old) const override {
    Value power = powerOf(t, 0.96, stepNumber(t, iteration, 1, old[0]));
    return {t.mul(t.mul(old[0], beta1), t.sub(1.0, t.mul(power, 0.5)))};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Value now = factor(t, in, 1), next = factor(t, in, 2);
    Value product = t.castLike(in.scalars[0], in.weight);
    Value nextProduct = t.mul(product, next);
    Value power2 = powerOf(t, beta2, stepNumber(t, in.iteration, 1, in.weight));
    Value g = in.gradient, m = towards(t, in.slots[0], g, rest(t, beta1, g));
    Value v = towards(t, in.slots[1], t.mul(g, g), rest(t, beta2, g));
    auto weighted = [&](Value share, Value x, Value rest) {
      return t.div(t.mul(t.fill(share, x), x), t.fill(t.sub(1.0, rest), x));
    };
    Value mean = t.add(weighted(next, m, nextProduct),
                       weighted(t.sub(1.0, now), g, product));
    Value root = t.make<SqrtOp>(t.div(v, t.fill(t.sub(1.0, power2), v)));
    Value change =
        t.div(t.mul(mean, t.fill(in.rate, mean)), t.add(root, epsilon));
    return {t.sub(in.weight, change), {m, v}};
  }
};

/// sqrt(sum(x^2)).
Value normOf(Tensors &t, Value x) {
  return t.make<SqrtOp>(t.sumAll(t.mul(x, x)));
}

/// Adam whose update of a weight is scaled to the norm of the weight.
class Lamb : public WithMoments {
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"momentum"}, {"velocity"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Value step = stepNumber(t, in.iteration, 1, in.weight);
    auto corrected = [&](Value x, double beta) {
      return t.div(x, t.fill(t.sub(1.0, powerOf(t, beta, step)), x));
    };
    Value m = newMomentum(t, in), v = newVelocity(t, in);
    Value root = t.add(t.make<SqrtOp>(corrected(v, beta2)), epsilon);
    Value change = t.div(corrected(m, beta1), root);
    Value length = normOf(t, in.weight), changeLength = normOf(t, change);
    Value one = t.splat(1, length);
    Value ratio = t.select(t.compare(CompareKind::GT, changeLength, 0),
                           t.div(length, changeLength), one);
    ratio = t.select(t.compare(CompareKind::GT, length, 0), ratio, one);
    Value rate = t.fill(t.mul(ratio, in.rate), change);
    return {t.sub(in.weight, t.mul(rate, change)), {m, v}};
  }
};

/// An optimizer that orthogonalizes the updates of matrices; other weights, and
/// excluded matrices, are updated as by AdamW.
class Muon : public WithMoments {
  double adamRatio = 1, momentum = 0.95, a = 3.4445, b = -4.775, c = 2.0315;
  std::optional<double> adamDecay = 0.004, rmsRate = 0.2;
  bool excludeEmbeddings = true, nesterov = true;
  std::vector<std::string> excluded; ///< patterns of paths
  int64_t rounds = 5;

public:
  Muon() { weightDecay = 0.004; }

private:
  void ownOptions(Options &o) override {
    o.number("adam_beta_1", beta1, kAnyNumber);
    o.number("adam_beta_2", beta2, kAnyNumber);
    o.maybeNumber("adam_weight_decay", adamDecay, kAnyNumber);
    o.number("epsilon", epsilon, kAnyNumber);
    o.texts("exclude_layers", excluded);
    o.flag("exclude_embeddings", excludeEmbeddings);
    o.number("muon_a", a, kAnyNumber);
    o.number("muon_b", b, kAnyNumber);
    o.number("muon_c", c, kAnyNumber);
    o.number("adam_lr_ratio", adamRatio, kAnyNumber);
    o.number("momentum", momentum, kAnyNumber);
    o.integer("ns_steps", rounds, kNotNegative);
    o.flag("nesterov", nesterov);
    o.maybeNumber("rms_rate", rmsRate, kAnyNumber);
  }
  bool isMatrix(const WeightFacts &facts) const {
    bool isTable =
        llvm::StringRef(facts.path).contains_insensitive("embedding");
    std::string error;
    return facts.shape.size() == 2 && !(excludeEmbeddings && isTable) &&
           !isExcluded(facts.path, error);
  }
  bool isExcluded(const std::string &weight, std::string &error) const {
    Patterns patterns(RegexMode::Search, "exclude_layers ");
    return llvm::any_of(excluded, [&](const std::string &pattern) {
      return patterns.match(pattern, weight, error);
    });
  }
  std::string complaint(ArrayRef<WeightFacts> weights) const override {
    std::string error;
    for (const WeightFacts &facts : weights)
      isExcluded(facts.path, error);
    return error;
  }
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"momentum"}, {"velocity"}}};
  }
  bool keeps(const SlotKind &slot, const WeightFacts &facts) const override {
    return llvm::StringRef(slot.name) == "momentum" || !isMatrix(facts);
  }
  std::optional<double> decayOf(const WeightFacts &facts) const override {
    return isMatrix(facts) ? weightDecay : adamDecay;
  }
  /// Newton-Schulz iterations towards an orthogonal matrix.
  Value orthogonal(Tensors &t, Value x) const {
    bool isTall = t.size(x, 0) > t.size(x, 1);
    if (isTall)
      x = t.transpose(x, {1, 0});
    x = t.div(x, t.fill(t.add(normOf(t, x), 1e-7), x));
    for (int64_t i = 0; i < rounds; ++i) {
      Value square = t.matmul(x, t.transpose(x, {1, 0}));
      Value factor =
          t.add(t.mul(square, b), t.matmul(t.mul(square, c), square));
      x = t.add(t.mul(x, a), t.matmul(factor, x));
    }
    return isTall ? t.transpose(x, {1, 0}) : x;
  }
  WeightUpdate updateMatrix(Tensors &t, const UpdateInputs &in) const {
    Value m = in.slots[0], g = in.gradient;
    m = t.add(m, t.add(g, t.mul(m, momentum - 1)));
    Value change = orthogonal(t, nesterov ? t.add(g, t.mul(m, momentum)) : m);
    change = t.mul(t.fill(in.rate, change), change);
    if (rmsRate) {
      double longer = double(std::max(t.size(change, 0), t.size(change, 1)));
      change = t.mul(t.mul(change, std::sqrt(longer)), *rmsRate);
    }
    return {t.sub(in.weight, change), {m}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    if (isMatrix(in.facts))
      return updateMatrix(t, in);
    Value step = stepNumber(t, in.iteration, 1, in.weight);
    Value power1 = powerOf(t, beta1, step), power2 = powerOf(t, beta2, step);
    Value alpha = t.div(
        t.mul(t.mul(in.rate, adamRatio), t.make<SqrtOp>(t.sub(1.0, power2))),
        t.sub(1.0, power1));
    Value m = newMomentum(t, in), v = newVelocity(t, in);
    Value change =
        t.div(t.mul(m, t.fill(alpha, m)), t.add(t.make<SqrtOp>(v), epsilon));
    return {t.sub(in.weight, change), {m, v}};
  }
};

/// The optimizer "follow the regularized leader".
class Ftrl : public Optimizer {
  double power = -0.5, first = 0.1, l1 = 0, l2 = 0, shrinkage = 0, beta = 0;

  void ownOptions(Options &o) override {
    o.number("learning_rate_power", power, kAnyNumber);
    o.check(power <= 0, "\"learning_rate_power\" must not be above 0");
    o.number("initial_accumulator_value", first, kNotNegative);
    o.number("l1_regularization_strength", l1, kNotNegative);
    o.number("l2_regularization_strength", l2, kNotNegative);
    o.number("l2_shrinkage_regularization_strength", shrinkage, kNotNegative);
    o.number("beta", beta, kAnyNumber);
  }
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"accumulator", first}, {"linear"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Value g = in.gradient, w = in.weight, rate = t.fill(in.rate, w);
    auto raised = [&](Value x) { return t.make<PowOp>(x, t.splat(-power, x)); };
    Value total = t.add(in.slots[0], t.mul(g, g));
    Value shrunk = t.add(g, t.mul(w, 2 * shrinkage));
    Value sigma = t.div(t.sub(raised(total), raised(in.slots[0])), rate);
    Value linear = t.add(in.slots[1], t.sub(shrunk, t.mul(sigma, w)));
    // 2 * (l2 + beta / (2 * rate)).
    Value ridge = t.div(t.splat(beta, in.rate), t.mul(in.rate, 2));
    ridge = t.fill(t.mul(t.add(ridge, l2), 2), w);
    Value quadratic = t.add(t.div(raised(total), rate), ridge);
    Value cut = t.min(t.max(linear, -l1), l1);
    return {t.div(t.sub(cut, linear), quadratic), {total, linear}};
  }
};

class Adagrad : public Optimizer {
  double first = 0.1, epsilon = 1e-7;

  void ownOptions(Options &o) override {
    o.number("initial_accumulator_value", first, kAnyNumber);
    o.number("epsilon", epsilon, kAnyNumber);
  }
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"accumulator", first}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Value g = in.gradient, total = t.add(in.slots[0], t.mul(g, g));
    Value change = t.div(t.mul(t.fill(in.rate, g), g),
                         t.make<SqrtOp>(t.add(total, epsilon)));
    return {t.sub(in.weight, change), {total}};
  }
};

class Adadelta : public Optimizer {
  double rho = 0.95, epsilon = 1e-7;

  void ownOptions(Options &o) override {
    o.number("rho", rho, kAnyNumber);
    o.number("epsilon", epsilon, kAnyNumber);
  }
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"accumulated_grad"}, {"accumulated_delta_var"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    auto root = [&](Value x) { return t.make<SqrtOp>(t.add(x, epsilon)); };
    auto mixed = [&](Value old, Value x) {
      return t.add(t.mul(old, rho), t.mul(t.mul(x, x), 1 - rho));
    };
    Value squares = mixed(in.slots[0], in.gradient);
    Value change =
        t.neg(t.div(t.mul(root(in.slots[1]), in.gradient), root(squares)));
    Value changes = mixed(in.slots[1], change);
    return {t.add(in.weight, t.mul(t.fill(in.rate, change), change)),
            {squares, changes}};
  }
};

class Lion : public Optimizer {
  double beta1 = 0.9, beta2 = 0.99;

  void ownOptions(Options &o) override {
    o.number("beta_1", beta1, kAnyNumber);
    o.check(beta1 > 0 && beta1 <= 1,
            "\"beta_1\" must be above 0 and at most 1");
    o.number("beta_2", beta2, kAnyNumber);
  }
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"momentum"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Value m = in.slots[0], g = in.gradient;
    auto mixed = [&](double share) {
      return t.add(t.mul(m, share), t.mul(g, rest(t, share, g)));
    };
    Value change = t.mul(t.fill(in.rate, g), t.make<SignOp>(mixed(beta1)));
    return {t.sub(in.weight, change), {mixed(beta2)}};
  }
};

} // namespace

const Table<Optimizer> &weft::keras::optimizerTable() {
  static const Table<Optimizer> table = {
      {"optimizer",
       "optimizers",
       {row<SGD>("SGD"), row<RMSprop>("RMSprop"), row<Adam>("Adam"),
        row<AdamW>("AdamW"), row<Adamax>("Adamax"), row<Adagrad>("Adagrad"),
        row<Adadelta>("Adadelta"), row<Lion>("Lion"), row<Nadam>("Nadam"),
        row<Lamb>("Lamb"), row<Ftrl>("Ftrl"), row<Muon>("Muon"),
        row<LossScaleOptimizer>("LossScaleOptimizer"),
        row<MultiOptimizer>("MultiOptimizer"), row<Adafactor>("Adafactor"),
        row<ScheduleFreeAdamW>("ScheduleFreeAdamW")}}};
  return table;
}
