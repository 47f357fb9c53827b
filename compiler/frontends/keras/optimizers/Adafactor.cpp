//===- Adafactor.cpp - moments of rows and columns ------------------------===//

#include "weft/compiler/frontends/keras/optimizers/Adafactor.h"

#include "llvm/ADT/StringRef.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void Adafactor::ownOptions(Options &o) {
  o.number("beta_2_decay", decayOfMoments, kAnyNumber);
  o.number("epsilon_1", epsilon1, kAnyNumber);
  o.number("epsilon_2", epsilon2, kAnyNumber);
  o.number("clip_threshold", clipThreshold, kAnyNumber);
  o.check(clipThreshold != 0, "\"clip_threshold\" must not be 0");
  o.flag("relative_step", relativeStep);
}

/// The slots of row and column moments, which are named after the weight only.
/// Weights of fewer than two dimensions have unused scalars instead, as in
/// Keras.
OptimizerVariable Adafactor::slotOf(const SlotKind &slot,
                                    const WeightFacts &facts) const {
  OptimizerVariable out = Optimizer::slotOf(slot, facts);
  llvm::StringRef kind = slot.name;
  if (kind == "velocity")
    return out;
  std::string name = facts.path.substr(facts.path.rfind('/') + 1);
  if (facts.shape.size() < 2)
    return {name, {}, "int32", 0, SlotUse::Slot, -1, /*isPlain=*/true};
  out.path = path() + "/" + name;
  out.shape.erase(out.shape.end() - (kind == "row" ? 1 : 2));
  return out;
}

/// The root of the mean square.
static Tensor rootMean(Tensors &t, Tensor x) { return sqrt(t.meanAll(x * x)); }

WeightUpdate Adafactor::update(Tensors &t, const UpdateInputs &in) const {
  Tensor g = in.gradient, step = t.castLike(in.iteration + 1, in.weight);
  Tensor rate = in.rate, one = t.splat(1, step);
  Tensor slower = one / sqrt(step);
  if (relativeStep && !schedule)
    rate = min(rate, slower);
  Tensor share = min(rate, slower);
  Tensor alpha = max(rootMean(t, in.weight), epsilon2) * share;
  Tensor old = 1.0 - pow(step, decayOfMoments);
  Tensor squares = g * g + epsilon1;
  auto mixed = [&](Tensor before, Tensor now) {
    return old * before + (1.0 - old) * now;
  };
  WeightUpdate out{{}, llvm::to_vector<3>(in.slots)};
  Tensor &velocity = out.slots.back();
  if (int64_t rank = t.rank(g); rank < 2) {
    velocity = mixed(velocity, squares);
  } else {
    Tensor row = mixed(in.slots[0], t.mean(squares, {rank - 1}));
    Tensor column = mixed(in.slots[1], t.mean(squares, {rank - 2}));
    Tensor mean = t.spread(t.mean(row, {rank - 2}), row, {rank - 2});
    velocity =
        t.spread(row / mean, g, {rank - 1}) * t.spread(column, g, {rank - 2});
    out.slots = {row, column, velocity};
  }
  Tensor change = g / sqrt(out.slots.back());
  Tensor divisor = max(rootMean(t, change) / clipThreshold, 1);
  change = change / divisor;
  out.weight = in.weight - alpha * change;
  return out;
}
