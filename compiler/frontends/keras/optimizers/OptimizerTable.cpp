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
    Tensor step = in.gradient * in.rate;
    if (momentum == 0)
      return {in.weight - step, {}};
    Tensor speed = in.slots[0] * momentum - step;
    Tensor change = nesterov ? speed * momentum - step : speed;
    return {in.weight + change, {speed}};
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
    Tensor g = in.gradient;
    Tensor velocity = in.slots[0] * rho + g * g * (1 - rho);
    out.slots.push_back(velocity);
    Tensor denominator = velocity, average;
    if (centered) {
      average = in.slots.back() * rho + g * (1 - rho);
      denominator = velocity - average * average;
    }
    denominator = denominator + epsilon;
    Tensor increment = in.rate * g / sqrt(denominator);
    if (momentum > 0) {
      increment = in.slots[1] * momentum + increment;
      out.slots.push_back(increment);
    }
    if (centered)
      out.slots.push_back(average);
    out.weight = in.weight - increment;
    return out;
  }
};

/// iteration + `ahead` in the type of `like`.
Tensor stepNumber(Tensors &t, Tensor iteration, double ahead, Tensor like) {
  return t.castLike(iteration + ahead, like);
}

/// old + (value - old) * share.
template <class Share> Tensor towards(Tensor old, Tensor value, Share share) {
  return old + (value - old) * share;
}
/// 1 - share, for a share rounded to the type of `like`.
Tensor rest(Tensors &t, double share, Tensor like) {
  return 1.0 - like.number(share);
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
  Tensor newMomentum(const UpdateInputs &in) const {
    return towards(in.slots[0], in.gradient, 1 - beta1);
  }
  Tensor newVelocity(const UpdateInputs &in) const {
    return towards(in.slots[1], in.gradient * in.gradient, 1 - beta2);
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
    Tensor step = stepNumber(t, in.iteration, 1, in.weight);
    Tensor power1 = pow(beta1, step), power2 = pow(beta2, step);
    Tensor alpha = in.rate * sqrt(1.0 - power2) / (1.0 - power1);
    Tensor m = newMomentum(in), v = newVelocity(in);
    WeightUpdate out{{}, {m, v}};
    if (amsgrad) {
      v = max(in.slots[2], v);
      out.slots.push_back(v);
    }
    Tensor change = m * alpha / (sqrt(v) + epsilon);
    out.weight = in.weight - change;
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
    Tensor power = pow(beta1, stepNumber(t, in.iteration, 1, in.weight));
    Tensor m = newMomentum(in);
    Tensor u = max(in.slots[1] * beta2, abs(in.gradient));
    Tensor divisor = t.fill(1.0 - power, u) * (u + epsilon);
    Tensor change = in.rate * m / divisor;
    return {in.weight - change, {m, u}};
  }
};

/// Adam with Nesterov's momentum.
class Nadam : public WithMoments {
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"momentum"}, {"velocity"}}};
  }
  std::vector<SlotKind> scalars() const override { return {{"u_product", 1}}; }
  /// beta_1 * (1 - 0.96^step / 2).
  Tensor factor(Tensors &t, const UpdateInputs &in, double ahead) const {
    Tensor power = pow(0.96, stepNumber(t, in.iteration, ahead, in.weight));
    return (1.0 - power * 0.5) * beta1;
  }
  std::vector<Tensor> newScalars(Tensors &t, Tensor iteration,
                                 ArrayRef<Tensor> old) const override {
    Tensor power = pow(0.96, stepNumber(t, iteration, 1, old[0]));
    return {old[0] * beta1 * (1.0 - power * 0.5)};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Tensor now = factor(t, in, 1), next = factor(t, in, 2);
    Tensor product = t.castLike(in.scalars[0], in.weight);
    Tensor nextProduct = product * next;
    Tensor power2 = pow(beta2, stepNumber(t, in.iteration, 1, in.weight));
    Tensor g = in.gradient, m = towards(in.slots[0], g, rest(t, beta1, g));
    Tensor v = towards(in.slots[1], g * g, rest(t, beta2, g));
    auto weighted = [&](Tensor share, Tensor x, Tensor rest) {
      return share * x / (1.0 - rest);
    };
    Tensor mean =
        weighted(next, m, nextProduct) + weighted(1.0 - now, g, product);
    Tensor root = sqrt(v / (1.0 - power2));
    Tensor change = mean * in.rate / (root + epsilon);
    return {in.weight - change, {m, v}};
  }
};

/// sqrt(sum(x^2)).
Tensor normOf(Tensors &t, Tensor x) { return sqrt(t.sumAll(x * x)); }

/// Adam whose update of a weight is scaled to the norm of the weight.
class Lamb : public WithMoments {
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"momentum"}, {"velocity"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    Tensor step = stepNumber(t, in.iteration, 1, in.weight);
    auto corrected = [&](Tensor x, double beta) {
      return x / (1.0 - pow(beta, step));
    };
    Tensor m = newMomentum(in), v = newVelocity(in);
    Tensor root = sqrt(corrected(v, beta2)) + epsilon;
    Tensor change = corrected(m, beta1) / root;
    Tensor length = normOf(t, in.weight), changeLength = normOf(t, change);
    Tensor one = length.number(1);
    Tensor ratio = select(changeLength > 0, length / changeLength, one);
    ratio = select(length > 0, ratio, one);
    Tensor rate = t.fill(ratio * in.rate, change);
    return {in.weight - rate * change, {m, v}};
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
    Status status;
    return facts.shape.size() == 2 && !(excludeEmbeddings && isTable) &&
           !isExcluded(facts.path, status);
  }
  bool isExcluded(const std::string &weight, Status &status) const {
    Patterns patterns(RegexMode::Search, "exclude_layers ");
    return llvm::any_of(excluded, [&](const std::string &pattern) {
      return patterns.match(pattern, weight, status);
    });
  }
  std::string complaint(ArrayRef<WeightFacts> weights) const override {
    Status status;
    for (const WeightFacts &facts : weights)
      isExcluded(facts.path, status);
    return status ? "" : status.message();
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
  Tensor orthogonal(Tensors &t, Tensor x) const {
    bool isTall = t.size(x, 0) > t.size(x, 1);
    if (isTall)
      x = t.transpose(x, {1, 0});
    x = x / (normOf(t, x) + 1e-7);
    for (int64_t i = 0; i < rounds; ++i) {
      Tensor square = t.matmul(x, t.transpose(x, {1, 0}));
      Tensor factor = square * b + t.matmul(square * c, square);
      x = x * a + t.matmul(factor, x);
    }
    return isTall ? t.transpose(x, {1, 0}) : x;
  }
  WeightUpdate updateMatrix(Tensors &t, const UpdateInputs &in) const {
    Tensor m = in.slots[0], g = in.gradient;
    m = m + (g + m * (momentum - 1));
    Tensor change = orthogonal(t, nesterov ? g + m * momentum : m);
    change = in.rate * change;
    if (rmsRate) {
      double longer = double(std::max(t.size(change, 0), t.size(change, 1)));
      change = change * std::sqrt(longer) * *rmsRate;
    }
    return {in.weight - change, {m}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override {
    if (isMatrix(in.facts))
      return updateMatrix(t, in);
    Tensor step = stepNumber(t, in.iteration, 1, in.weight);
    Tensor power1 = pow(beta1, step), power2 = pow(beta2, step);
    Tensor alpha = in.rate * adamRatio * sqrt(1.0 - power2) / (1.0 - power1);
    Tensor m = newMomentum(in), v = newVelocity(in);
    Tensor change = m * alpha / (sqrt(v) + epsilon);
    return {in.weight - change, {m, v}};
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
    Tensor g = in.gradient, w = in.weight, rate = t.fill(in.rate, w);
    auto raised = [&](Tensor x) { return pow(x, -power); };
    Tensor total = in.slots[0] + g * g;
    Tensor shrunk = g + w * (2 * shrinkage);
    Tensor sigma = (raised(total) - raised(in.slots[0])) / rate;
    Tensor linear = in.slots[1] + (shrunk - sigma * w);
    // 2 * (l2 + beta / (2 * rate)).
    Tensor ridge = t.splat(beta, in.rate) / (in.rate * 2);
    ridge = t.fill((ridge + l2) * 2, w);
    Tensor quadratic = raised(total) / rate + ridge;
    Tensor cut = min(max(linear, -l1), l1);
    return {(cut - linear) / quadratic, {total, linear}};
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
    Tensor g = in.gradient, total = in.slots[0] + g * g;
    Tensor change = in.rate * g / sqrt(total + epsilon);
    return {in.weight - change, {total}};
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
    auto root = [&](Tensor x) { return sqrt(x + epsilon); };
    auto mixed = [&](Tensor old, Tensor x) {
      return old * rho + x * x * (1 - rho);
    };
    Tensor squares = mixed(in.slots[0], in.gradient);
    Tensor change = -(root(in.slots[1]) * in.gradient / root(squares));
    Tensor changes = mixed(in.slots[1], change);
    return {in.weight + in.rate * change, {squares, changes}};
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
    Tensor m = in.slots[0], g = in.gradient;
    auto mixed = [&](double share) {
      return m * share + g * rest(t, share, g);
    };
    Tensor change = t.fill(in.rate, g) * sign(mixed(beta1));
    return {in.weight - change, {mixed(beta2)}};
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
