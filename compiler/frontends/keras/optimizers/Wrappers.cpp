//===- Wrappers.cpp - optimizers made of others ---------------------------===//

#include "weft/compiler/frontends/keras/optimizers/Wrappers.h"

#include "weft/base/config/Patterns.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// Refuses options in old files that are now options of the inner optimizer.
static void refuseBaseOptions(Options &o) {
  for (const char *name : {"weight_decay", "clipnorm", "global_clipnorm",
                           "clipvalue", "ema_overwrite_frequency",
                           "loss_scale_factor", "gradient_accumulation_steps"})
    o.refused(name, "set it on the optimizer inside");
  o.refused("use_ema", "set it on the optimizer inside", "false");
  o.refused("ema_momentum", "set it on the optimizer inside", "0.99");
}

void LossScaleOptimizer::options(Options &o) {
  o.text("name", name);
  o.object("inner_optimizer", inner, optimizerTable());
  o.check(inner != nullptr,
          "\"inner_optimizer\" is missing; give the optimizer whose loss is "
          "scaled");
  o.number("initial_scale", initialScale, kAnyNumber);
  o.check(std::isfinite(float(initialScale)) && initialScale > 0,
          "\"initial_scale\" must be above 0 and finite in float32");
  o.integer("dynamic_growth_steps", growthSteps, kPositive);
  refuseBaseOptions(o);
  o.refused("dynamic", "a scale that stays", "true");
}

/// The positions of two of the optimizer's own variables, and the number of its
/// own variables.
enum : unsigned { kCounter = 2, kScale = 3, kOwn = 4 };

std::vector<OptimizerVariable>
LossScaleOptimizer::variables(ArrayRef<WeightFacts> weights, bool) const {
  std::vector<OptimizerVariable> out = {
      {path() + "/iteration", {}, "int32"},
      {path() + "/learning_rate"},
      {path() + "/step_counter", {}, "int32"},
      {path() + "/dynamic_scale", {}, "float32", double(float(initialScale))}};
  llvm::append_range(out, inner->variables(weights, true));
  return out;
}

std::optional<unsigned> LossScaleOptimizer::scaleVariable() const {
  return kScale;
}

std::vector<InnerOptimizer>
LossScaleOptimizer::innerOptimizers(ArrayRef<WeightFacts> weights, bool) const {
  unsigned count = inner->variables(weights, true).size();
  return {{"inner_optimizer", inner, weights.vec(), true, kOwn, count}};
}

/// Whether all elements of all tensors are finite, as i1.
static Tensor areFinite(Tensors &t, ArrayRef<Value> tensors) {
  Tensor out =
      t.splat(1, RankedTensorType::get({}, t.builder.getIntegerType(1)));
  for (Value tensor : tensors) {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < t.rank(tensor); ++dim)
      dims.push_back(dim);
    Tensor isGood = abs(t(tensor)) < INFINITY;
    out = out & t.reduce(ReduceKind::And, isGood, dims);
  }
  return out;
}

void LossScaleOptimizer::updateScale(Tensors &t, Tensor isFinite,
                                     Value &counter, Value &scale) const {
  Tensor count = t(counter), old = t(scale);
  Tensor isLong = count == double(growthSteps - 1), zero = count.number(0);
  counter = select(isFinite, select(isLong, zero, count + 1), zero);
  scale = select(isFinite, select(isLong, old * 2, old), old * 0.5);
}

void LossScaleOptimizer::step(OptimizerStep &step) const {
  Tensors t = step.at(path());
  Tensor isFinite = areFinite(t, step.gradients);
  auto own = MutableArrayRef(step.variables).take_front(kOwn);
  ArrayRef<Value> ofInner = ArrayRef(step.variables).drop_front(kOwn);
  OptimizerStep taken{step.builder, step.facts, step.gradients, step.weights,
                      llvm::to_vector(ofInner)};
  taken.isScaled = true;
  for (Value &gradient : taken.gradients)
    gradient =
        t(gradient) / t.castLike(t.fill(own[kScale], gradient), gradient);
  inner->step(taken);
  auto keep = [&](MutableArrayRef<Value> old, ArrayRef<Value> made) {
    for (auto [before, after] : llvm::zip_equal(old, made))
      if (before != after)
        before = select(t.fill(isFinite, after), t(after), t(before));
  };
  updateScale(t, isFinite, own[kCounter], own[kScale]);
  keep(step.weights, taken.weights);
  keep(MutableArrayRef(step.variables).drop_front(kOwn), taken.variables);
}

const Table<OptimizerMap> &weft::keras::optimizerMapTable() {
  static const Table<OptimizerMap> table = {
      {"optimizer map", "optimizer maps", {row<OptimizerMap>("OptimizerMap")}}};
  return table;
}

void OptimizerMap::options(Options &o) {
  o.object("default_optimizer", otherwise, optimizerTable());
  o.check(
      otherwise != nullptr,
      "\"default_optimizer\" is missing; give the optimizer of weights that "
      "no pattern matches");
  o.objectsByKey("optimizer_map", byPattern, optimizerTable());
}

size_t OptimizerMap::find(const std::string &weight, Status &status) const {
  for (auto [i, entry] : llvm::enumerate(byPattern))
    if (entry.first == weight)
      return i;
  Patterns patterns(RegexMode::FullMatch, "optimizer_map ");
  size_t found = byPattern.size();
  for (auto [i, entry] : llvm::enumerate(byPattern)) {
    if (!patterns.match(entry.first, weight, status))
      continue;
    if (found < i && status)
      status = Error{"optimizer_map: \"" + byPattern[found].first +
                     "\" and \"" + entry.first + "\" both match \"" + weight +
                     "\"; change them so that one matches"};
    found = std::min(found, i);
  }
  return found;
}

void MultiOptimizer::options(Options &o) {
  o.object("optimizer_map", map, optimizerMapTable());
  o.check(map != nullptr,
          "\"optimizer_map\" is missing; give an OptimizerMap (functions "
          "cannot be written to a file)");
  o.maybeNumber("loss_scale_factor", lossScaleFactor, kAnyNumber);
  o.check(!lossScaleFactor || *lossScaleFactor != 0,
          "\"loss_scale_factor\" must not be 0");
  o.text("name", name);
}

std::vector<MultiOptimizer::Group>
MultiOptimizer::groups(ArrayRef<WeightFacts> weights) const {
  std::vector<Group> out;
  if (!map)
    return out;
  for (const auto &[pattern, optimizer] : map->byPattern)
    out.push_back({optimizer, {}, {}});
  out.push_back({map->otherwise, {}, {}});
  for (auto [i, facts] : llvm::enumerate(weights)) {
    Status unread;
    Group &group = out[map->find(facts.path, unread)];
    group.positions.push_back(i);
    group.weights.push_back(facts);
  }
  return out;
}

std::string MultiOptimizer::complaint(ArrayRef<WeightFacts> weights) const {
  Status status;
  for (const WeightFacts &facts : weights)
    map->find(facts.path, status);
  for (const Group &group : groups(weights)) {
    if (status && !group.weights.empty() &&
        !group.optimizer->innerOptimizers({}).empty())
      status = Error{group.optimizer->className +
                     " stands inside a MultiOptimizer; put it around the "
                     "MultiOptimizer, or leave it out"};
    std::string inside = group.optimizer->complaint(group.weights);
    if (status && !inside.empty())
      status = Error{inside};
  }
  return status ? "" : status.message();
}

/// The variables of an optimizer. Without weights, when Keras does not build
/// it, they are the iteration and the learning rate only.
static std::vector<OptimizerVariable>
builtVariables(const Optimizer &optimizer, ArrayRef<WeightFacts> weights,
               bool isScaled) {
  std::vector<OptimizerVariable> out = optimizer.variables(weights, isScaled);
  if (weights.empty())
    llvm::erase_if(out, [](const OptimizerVariable &variable) {
      return variable.use != SlotUse::Step;
    });
  return out;
}

std::vector<OptimizerVariable>
MultiOptimizer::variables(ArrayRef<WeightFacts> weights, bool isScaled) const {
  std::vector<OptimizerVariable> out = {{path() + "/iteration", {}, "int32"},
                                        {path() + "/learning_rate"}};
  for (const Group &group : groups(weights))
    for (OptimizerVariable variable :
         builtVariables(*group.optimizer, group.weights, isScaled)) {
      if (variable.weight >= 0)
        variable.weight = int(group.positions[variable.weight]);
      out.push_back(std::move(variable));
    }
  return out;
}

std::vector<InnerOptimizer>
MultiOptimizer::innerOptimizers(ArrayRef<WeightFacts> weights,
                                bool isScaled) const {
  std::vector<InnerOptimizer> out;
  std::map<std::string, unsigned> counts;
  unsigned begin = 2;
  for (Group &group : groups(weights)) {
    std::string saved = "optimizers/" + snakeCase(group.optimizer->className);
    if (unsigned earlier = counts[saved]++)
      saved += "_" + std::to_string(earlier);
    unsigned count =
        builtVariables(*group.optimizer, group.weights, isScaled).size();
    out.push_back({saved, group.optimizer, std::move(group.weights), isScaled,
                   begin, count});
    begin += count;
  }
  return out;
}

void MultiOptimizer::step(OptimizerStep &step) const {
  if (step.weights.empty())
    return;
  unsigned begin = 2;
  for (const Group &group : groups(step.facts)) {
    unsigned count =
        builtVariables(*group.optimizer, group.weights, step.isScaled).size();
    auto own = MutableArrayRef(step.variables).slice(begin, count);
    begin += count;
    if (group.weights.empty())
      continue;
    OptimizerStep inner{step.builder,         group.weights,  {},           {},
                        llvm::to_vector(own), step.lossScale, step.isScaled};
    for (unsigned position : group.positions) {
      inner.gradients.push_back(step.gradients[position]);
      inner.weights.push_back(step.weights[position]);
    }
    group.optimizer->step(inner);
    for (auto [position, weight] :
         llvm::zip_equal(group.positions, inner.weights))
      step.weights[position] = weight;
    llvm::copy(inner.variables, own.begin());
  }
  Tensors t = step.at(path());
  step.variables[0] = t(step.variables[0]) + 1.0;
}
