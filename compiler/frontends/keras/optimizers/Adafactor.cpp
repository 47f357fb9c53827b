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
static Value rootMean(Tensors &t, Value x) {
  return t.make<SqrtOp>(t.meanAll(t.mul(x, x)));
}

WeightUpdate Adafactor::update(Tensors &t, const UpdateInputs &in) const {
  Value g = in.gradient, step = t.castLike(t.add(in.iteration, 1), in.weight);
  Value rate = in.rate, one = t.splat(1, step);
  Value slower = t.div(one, t.make<SqrtOp>(step));
  if (relativeStep && !schedule)
    rate = t.make<MinOp>(rate, slower);
  Value share = t.make<MinOp>(rate, slower);
  Value alpha = t.mul(t.max(rootMean(t, in.weight), epsilon2), share);
  Value old = t.sub(1.0, t.make<PowOp>(step, t.splat(decayOfMoments, step)));
  Value squares = t.add(t.mul(g, g), epsilon1);
  auto mixed = [&](Value before, Value now) {
    return t.add(t.mul(t.fill(old, before), before),
                 t.mul(t.fill(t.sub(1.0, old), now), now));
  };
  WeightUpdate out{nullptr, llvm::to_vector<3>(in.slots)};
  Value &velocity = out.slots.back();
  if (int64_t rank = t.rank(g); rank < 2) {
    velocity = mixed(velocity, squares);
  } else {
    Value row = mixed(in.slots[0], t.mean(squares, {rank - 1}));
    Value column = mixed(in.slots[1], t.mean(squares, {rank - 2}));
    Value mean = t.spread(t.mean(row, {rank - 2}), row, {rank - 2});
    velocity = t.mul(t.spread(t.div(row, mean), g, {rank - 1}),
                     t.spread(column, g, {rank - 2}));
    out.slots = {row, column, velocity};
  }
  Value change = t.div(g, t.make<SqrtOp>(out.slots.back()));
  Value divisor = t.max(t.div(rootMean(t, change), clipThreshold), 1);
  change = t.div(change, t.fill(divisor, change));
  out.weight = t.sub(in.weight, t.mul(t.fill(alpha, change), change));
  return out;
}
