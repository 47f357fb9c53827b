//===- Call.cpp - one call of a layer -------------------------------------===//

#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/layout/Sizes.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The size of a float32 element, with which sizes of tensors are limited.
static constexpr int64_t kFloatBytes = 4;

/// The shape without the batch dimension; empty for a scalar.
static ArrayRef<int64_t> sampleShape(Tensor x) {
  return Tensors::shape(x).drop_front(Tensors::rank(x) > 0);
}

std::string weft::keras::sampleText(Tensor x) {
  return shapeText(sampleShape(x));
}

Tensor Layer::call(Call &c, Tensor x) const {
  c.refuse("takes several tensors");
  return x;
}

Tensor Layer::callAll(Call &c, const CallInputs &inputs) const {
  return call(c, inputs.values[0]);
}

std::vector<Tensor> Layer::results(Call &c, const CallInputs &inputs) const {
  return {callAll(c, inputs)};
}

Masks Layer::masks(Call &, const CallInputs &inputs) const {
  return facts().passesMask ? Masks{inputs.mask()} : Masks();
}

VariableRequest Call::request(const char *name, std::vector<int64_t> shape,
                              const Weight &rules) const {
  return {.layer = path,
          .name = name,
          .shape = std::move(shape),
          .rules = rules,
          .trainable = false,
          .scope = scope,
          .dtype = policy.variable};
}

Tensor Call::weight(const char *name, std::vector<int64_t> shape,
                    const Weight &rules) {
  if (std::string why = oversize(shape, kFloatBytes); !why.empty())
    refuse("its " + std::string(name) + " " + shapeText(shape) + " has " + why);
  VariableRequest asked = request(name, std::move(shape), rules);
  asked.trainable = trainable && !rules.isFrozen;
  if (rules.isOfAdapter)
    asked.dtype = "float32";
  else if (!rules.dtype.empty())
    asked.dtype = rules.dtype;
  Tensor value = t(variables.get(asked));
  if (rules.constraint)
    hasAxes(value, rules.constraint->axes());
  return rules.keepsType ? value : cast(value);
}

Tensor Call::state(const char *name, std::vector<int64_t> shape,
                   const InitializerPtr &initializer) {
  return t(variables.get(request(name, std::move(shape), {initializer})));
}

void Call::counter(const char *name) {
  VariableRequest asked = request(name, {}, {zeros()});
  asked.dtype = "int32";
  variables.get(asked);
}

void Call::update(const char *name, Tensor value) {
  variables.set(request(name, Tensors::shape(value).vec(), {}),
                t.cast(value, t.typeOf(policy.variable)));
}

/// The state of a seed generator.
static VariableRequest seedState(std::string layer,
                                 const InitializerPtr &generator) {
  return {.layer = std::move(layer),
          .name = "seed_generator_state",
          .shape = {2},
          .rules = {generator},
          .trainable = false,
          .isRandom = true};
}

Tensor Call::random(const InitializerPtr &seedGenerator,
                    llvm::function_ref<Tensor(Tensor)> draw) {
  VariableRequest asked = seedState(path, seedGenerator);
  Tensor key = t(variables.get(asked));
  Tensor drawn = draw(key);
  auto next = DenseElementsAttr::get(tensorType(key), ArrayRef<uint32_t>{0, 1});
  variables.set(asked, key + t.make<ConstantOp>(ElementsAttr(next)));
  return drawn;
}

void Call::hold(const InitializerPtr &seedGenerator, bool isDrawnAlways) {
  VariableRequest asked = seedState(path, seedGenerator);
  asked.isDrawnAlways = isDrawnAlways;
  variables.get(asked);
}

void Call::holdInside(const char *name, const InitializerPtr &seedGenerator) {
  variables.get(seedState(path + "/" + name, seedGenerator));
}

void Call::skip(const InitializerPtr &seedGenerator, int64_t count) {
  VariableRequest asked = seedState(path, seedGenerator);
  Tensor key = t(variables.get(asked));
  auto passed = DenseElementsAttr::get(tensorType(key),
                                       ArrayRef<uint32_t>{0, uint32_t(count)});
  variables.set(asked, key + t.make<ConstantOp>(ElementsAttr(passed)));
}

/// Computes keras.random.dropout with the mask of key {seed, n} for draw n.
Tensor Call::dropout(Tensor x, double rate, const InitializerPtr &seedGenerator,
                     ArrayRef<int64_t> maskShape) {
  if (!training)
    return x;
  if (rate == 1)
    return t.splat(0, x);
  double keep = 1.0 - rate;
  Tensor mask = random(seedGenerator, [&](Tensor key) {
    ArrayRef<int64_t> shape = maskShape.empty() ? t.shape(x) : maskShape;
    auto type = RankedTensorType::get(shape, t.builder.getF32Type());
    return t.uniform(key, type) < keep;
  });
  mask = t.stretch(mask, t.shape(x));
  return select(mask, x / keep, 0);
}

SmallVector<int64_t> Call::noiseShape(Tensor x, ArrayRef<int64_t> written) {
  SmallVector<int64_t> out(t.shape(x));
  bool fits = written.empty() || written.size() == out.size();
  for (size_t i = 0; fits && i < written.size(); ++i) {
    fits = written[i] == -1 || written[i] == 1 || written[i] == out[i];
    out[i] = written[i] == 1 ? 1 : out[i];
  }
  if (!fits)
    refuse("\"noise_shape\" " + shapeText(written) +
           " does not fit a tensor of shape " + shapeText(t.shape(x)) +
           "; each size is null, 1 or the tensor's");
  return fits ? out : SmallVector<int64_t>(t.shape(x));
}

bool Call::hasRank(Tensor x, int64_t rank) {
  if (Tensors::rank(x) == rank)
    return true;
  refuse("takes tensors of rank " + std::to_string(rank) +
         " with the batch, but is called with samples of shape " +
         sampleText(x));
  return false;
}

bool Call::hasAxes(Tensor x, ArrayRef<int64_t> axes) {
  int64_t rank = Tensors::rank(x);
  SmallVector<int64_t> dims = Tensors::dims(x, axes);
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= rank || (i && dims[i - 1] == dim)) {
      refuse("axes " + shapeText(axes) + " are not distinct ones of " +
             std::to_string(rank) + " dimensions");
      return false;
    }
  return true;
}

bool Call::hasSampleAxes(Tensor x, ArrayRef<int64_t> axes) {
  if (!hasAxes(x, axes))
    return false;
  if (!llvm::is_contained(Tensors::dims(x, axes), 0))
    return true;
  refuse("axes " + shapeText(axes) +
         " name dimension 0, the batch; name dimensions of a sample");
  return false;
}

Tensor Call::run(const Layer &layer, const char *name, Tensor x) {
  return runAll(layer, name, CallInputs(x)).values[0];
}

/// Calls the layer with inputs in the types that it takes, and returns its
/// results and their masks; adds the penalties of its activity regularizer,
/// divided by the batch size.
static CallResults resultsOf(Call &call, const Layer &layer,
                             CallInputs inputs) {
  const Facts facts = layer.facts();
  if (const auto &how = call.policy.quantization;
      how && !llvm::is_contained(facts.quantizedBy, how->mode))
    call.refuse("has a type policy of quantized weights, \"" + how->mode +
                "\", which Keras does not have for a " + layer.className +
                "; give it the policy without \"" + how->mode + "\"");
  for (auto *values : {&inputs.values, &inputs.tensors})
    for (Tensor &value : *values)
      if (isa<FloatType>(tensorType(value).getElementType())
              ? facts.castsInputs
              : facts.castsIntegers)
        value = call.cast(value);
  CallResults out;
  out.values = layer.results(call, inputs);
  if (RegularizerPtr regularizer = facts.activityRegularizer)
    for (Tensor value : out.values)
      call.addLoss(regularizer->penalty(call.t, value) / call.t.size(value, 0));
  out.masks = layer.masks(call, inputs);
  out.masks.resize(out.values.size());
  return out;
}

CallResults Call::runAll(const Layer &layer, const char *name,
                         const CallInputs &inputs) {
  variables.construct(layer, {self, scope});
  Call inner(t, variables, layer, path + "/" + name,
             trainable && layer.trainable, training,
             layer.policy.value_or(policy));
  inner.scope = scope + "/" + name;
  return resultsOf(inner, layer, inputs);
}

Call Call::inside(const Layer &layer, const std::string &attribute) {
  Call out(t, variables, layer, path + "/" + attribute,
           trainable && layer.trainable, training,
           layer.policy.value_or(policy));
  out.scope = layer.isBuiltAlone ? layer.name : scope + "/" + layer.name;
  return out;
}

Tensor Call::runOption(const Layer &layer, const char *attribute, Tensor x) {
  return runOptionAll(layer, attribute, CallInputs(x)).values[0];
}

CallResults Call::runOptionAll(const Layer &layer, const char *attribute,
                               const CallInputs &inputs) {
  Call inner = inside(layer, attribute);
  return resultsOf(inner, layer, inputs);
}

namespace {
/// The variables of another call; a class below changes a part of it.
class Forwarding : public Variables {
public:
  explicit Forwarding(Variables &variables [[clang::lifetimebound]])
      : variables(variables) {}
  Value get(const VariableRequest &request) override {
    return variables.get(request);
  }
  void set(const VariableRequest &request, Value value) override {
    variables.set(request, value);
  }
  void replace(const VariableRequest &request, Value value) override {
    variables.replace(request, value);
  }
  void construct(const Layer &layer, const Constructor &by) override {
    variables.construct(layer, by);
  }
  void construct(const InitializerPtr &initializer,
                 const Constructor &by) override {
    variables.construct(initializer, by);
  }
  void addLoss(Value scalar) override { variables.addLoss(scalar); }
  void refuse(const std::string &complaint) override {
    variables.refuse(complaint);
  }

protected:
  Variables &variables;
};

/// Replaces one weight by another value.
class Adjusting : public Forwarding {
public:
  Adjusting(Variables &variables, std::string path,
            ArrayRef<llvm::StringRef> names,
            llvm::function_ref<Value(Value)> adjust)
      : Forwarding(variables), path(std::move(path)), names(names),
        adjust(adjust) {}
  Value get(const VariableRequest &request) override {
    Value value = variables.get(request);
    if (isDone || request.layer != path ||
        !llvm::is_contained(names, request.name))
      return value;
    isDone = true;
    Value adjusted = adjust(value);
    if (adjusted == value)
      return value;
    request.trainable ? variables.replace(request, adjusted)
                      : variables.set(request, adjusted);
    return adjusted;
  }

private:
  std::string path;
  ArrayRef<llvm::StringRef> names;
  llvm::function_ref<Value(Value)> adjust;
  bool isDone = false;
};

/// Lets a call read variables; its updates and losses are dropped, and recorded
/// in `leaves`.
class Watch : public Forwarding {
public:
  using Forwarding::Forwarding;
  void set(const VariableRequest &, Value) override { leaves = true; }
  void replace(const VariableRequest &, Value) override { leaves = true; }
  void addLoss(Value) override { leaves = true; }
  bool leaves = false;
};

/// A later call of a layer, which constructs nothing.
class Again : public Forwarding {
public:
  using Forwarding::Forwarding;
  void construct(const Layer &, const Constructor &) override {}
  void construct(const InitializerPtr &, const Constructor &) override {}
};
} // namespace

Tensor Call::runOptionAdjusted(const Layer &layer, const char *attribute,
                               Tensor x, ArrayRef<llvm::StringRef> names,
                               llvm::function_ref<Tensor(Tensor)> adjust) {
  Call apart = inside(layer, attribute);
  auto adjusted = [&](Value weight) -> Value { return adjust(t(weight)); };
  Adjusting adjusting(variables, apart.path, names, adjusted);
  Call inner = apart.with(adjusting);
  return resultsOf(inner, layer, CallInputs(x)).values[0];
}

/// Erases the ops after `last`.
static void eraseBehind(Block &block, Operation *last) {
  while (!block.empty() && &block.back() != last)
    block.back().erase();
}

/// Merges the batch and the times of (batch, times, ...) into one dimension.
static Tensor asBatch(Tensors &t, Tensor x) {
  SmallVector<int64_t> shape(t.shape(x).drop_front());
  shape[0] *= t.size(x, 0);
  return t.reshape(x, shape);
}

/// The slice (batch, ...) of (batch, times, ...) at one time.
static Tensor atTime(Tensors &t, Tensor x, int64_t time) {
  SmallVector<int64_t> shape(t.shape(x));
  shape.erase(shape.begin() + 1);
  return t.reshape(t.slice(x, 1, time, time + 1), shape);
}

Tensor Call::runOptionForTimes(const Layer &layer, const char *attribute,
                               Tensor x, Tensor mask) {
  auto result = [&](Call call, Tensor x, Tensor mask) {
    std::vector<Tensor> found = layer.results(call, CallInputs(x, mask));
    if (found.size() != 1)
      refuse("its layer " + layer.name + " gives " +
             std::to_string(found.size()) + " results; give it one");
    return found.empty() ? x : found[0];
  };
  int64_t batch = t.size(x, 0), times = t.size(x, 1);
  Block &block = *t.builder.getBlock();
  Operation *last = block.empty() ? nullptr : &block.back();
  Watch watch(variables);
  Call apart = inside(layer, attribute);
  Tensor all =
      result(apart.with(watch), asBatch(t, x), mask ? asBatch(t, mask) : mask);
  auto front = [&](Tensor out, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> shape(sizes);
    llvm::append_range(shape, t.shape(out).drop_front());
    return t.reshape(out, shape);
  };
  if (!watch.leaves)
    return front(all, {batch, times});
  eraseBehind(block, last);
  constexpr int64_t most = 1 << 14;
  if (times > most) {
    refuse("has " + std::to_string(times) + " times, and its layer " +
           layer.name + " is called for each; take at most " +
           std::to_string(most));
    return x;
  }
  Again again(variables);
  Call each = apart.with(again);
  SmallVector<Tensor> outputs;
  for (int64_t i = 0; i < times; ++i) {
    Tensor out =
        result(each, atTime(t, x, i), mask ? atTime(t, mask, i) : mask);
    outputs.push_back(front(out, {batch, 1}));
  }
  return t.concatenate(outputs, 1);
}

/// Refuses tensors that the layer does not take.
static bool takes(Call &call, const Layer &layer, const CallInputs &inputs) {
  const Facts facts = layer.facts();
  for (Tensor value : inputs.values)
    if (tensorType(value).getElementType().isInteger() &&
        !facts.takesIntegers && !facts.castsIntegers) {
      call.refuse("is called with integers, which it does not take; begin with "
                  "an Embedding, or with an input of float32");
      return false;
    }
  bool isGiven = !inputs.values.empty() ||
                 (facts.readsArguments && !inputs.tensors.empty());
  if (!isGiven)
    call.refuse("must be called with a tensor, not none");
  bool isOne =
      inputs.values.size() == 1 || facts.takesSeveral || facts.readsArguments;
  if (isGiven && !isOne)
    call.refuse("must be called with one tensor, not " +
                std::to_string(inputs.values.size()));
  return isGiven && isOne;
}

/// The results of a call with tensors that the layer takes; refuses others, and
/// results that are too large.
static CallResults checkedResults(Call &call, const Layer &layer,
                                  const CallInputs &inputs) {
  if (!takes(call, layer, inputs))
    return {};
  CallResults out = resultsOf(call, layer, inputs);
  for (Tensor value : out.values)
    if (std::string why = oversize(sampleShape(value), kFloatBytes);
        !why.empty())
      call.refuse("a sample of its output " + sampleText(value) + " has " +
                  why);
  return out;
}

CallResults Call::runMember(const Layer &layer, const std::string &attribute,
                            const CallInputs &inputs) {
  Call inner = inside(layer, attribute);
  return checkedResults(inner, layer, inputs);
}

CallResults weft::keras::callLayer(Tensors &t, Variables &variables,
                                   const Layer &layer, const std::string &path,
                                   const CallInputs &inputs, bool training) {
  Call call(t, variables, layer, path, layer.trainable, training,
            layer.policy.value_or(Policy()));
  return checkedResults(call, layer, inputs);
}
