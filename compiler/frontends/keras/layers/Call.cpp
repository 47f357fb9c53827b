//===- Call.cpp - one call of a layer -------------------------------------===//

#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/dialects/weft/Sizes.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// Of an element of a variable or a value.
static constexpr int64_t kFloatBytes = 4;

std::string weft::keras::shapeText(ArrayRef<int64_t> shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    out += (i ? ", " : "") + (shape[i] < 0 ? "null" : std::to_string(shape[i]));
  return out + ")";
}

std::string weft::keras::sampleText(Value x) {
  return shapeText(Tensors::shape(x).drop_front());
}

Value Layer::call(Call &c, Value x) const {
  c.refuse("takes several tensors");
  return x;
}

Value Layer::callAll(Call &c, const CallInputs &inputs) const {
  if (inputs.values.size() != 1)
    c.refuse("must be called with one tensor, not " +
             std::to_string(inputs.values.size()));
  return call(c, inputs.values[0]);
}

Value Call::weight(const char *name, std::vector<int64_t> shape,
                   const WeightRules &rules) {
  if (std::string why = oversize(shape, kFloatBytes); !why.empty())
    refuse("its " + std::string(name) + " " + shapeText(shape) + " has " + why);
  Value value = variables.get(
      {path, name, std::move(shape), rules, trainable, false, scope});
  if (rules.constraint)
    hasAxes(value, rules.constraint->axes());
  return value;
}

Value Call::state(const char *name, std::vector<int64_t> shape,
                  const InitializerPtr &initializer) {
  return variables.get(
      {path, name, std::move(shape), {initializer}, false, false, scope});
}

void Call::update(const char *name, Value value) {
  variables.set({path, name, Tensors::shape(value).vec(), {}, false, false},
                value);
}

Value Call::random(const InitializerPtr &seedGenerator,
                   llvm::function_ref<Value(Value)> draw) {
  VariableRequest request{
      path, "seed_generator_state", {2}, {seedGenerator}, false, true};
  Value key = variables.get(request);
  Value drawn = draw(key);
  auto next = DenseElementsAttr::get(tensorType(key), ArrayRef<uint32_t>{0, 1});
  variables.set(request, t.add(key, t.make<ConstantOp>(ElementsAttr(next))));
  return drawn;
}

void Call::hold(const InitializerPtr &seedGenerator) {
  variables.get(
      {path, "seed_generator_state", {2}, {seedGenerator}, false, true});
}

/// keras.random.dropout: key n makes the mask of call n.
Value Call::dropout(Value x, double rate, const InitializerPtr &seedGenerator,
                    ArrayRef<int64_t> maskShape) {
  if (!training)
    return x;
  if (rate == 1)
    return t.splat(0, x);
  double keep = 1.0 - rate;
  Value mask = random(seedGenerator, [&](Value key) {
    auto type =
        maskShape.empty() ? tensorType(x) : tensorType(x).clone(maskShape);
    return t.compare(CompareKind::LT, t.uniform(key, type), keep);
  });
  mask = t.stretch(mask, t.shape(x));
  return t.select(mask, t.div(x, keep), t.splat(0, x));
}

bool Call::hasRank(Value x, int64_t rank) {
  if (Tensors::rank(x) == rank)
    return true;
  refuse("takes tensors of rank " + std::to_string(rank) +
         " with the batch, but is called with samples of shape " +
         sampleText(x));
  return false;
}

bool Call::hasAxes(Value x, ArrayRef<int64_t> axes) {
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

bool Call::hasSampleAxes(Value x, ArrayRef<int64_t> axes) {
  if (!hasAxes(x, axes))
    return false;
  if (!llvm::is_contained(Tensors::dims(x, axes), 0))
    return true;
  refuse("axes " + shapeText(axes) +
         " name dimension 0, the batch; name dimensions of a sample");
  return false;
}

Value Call::run(const Layer &layer, const char *name, Value x) {
  variables.construct(layer);
  CallInputs inputs;
  inputs.values = {x};
  Call inner(t, variables, path + "/" + name, trainable && layer.trainable,
             training);
  inner.scope = scope + "/" + name;
  return layer.callAll(inner, inputs);
}

Call Call::inside(const Layer &layer, const std::string &attribute) {
  Call out(t, variables, path + "/" + attribute, trainable && layer.trainable,
           training);
  out.scope = layer.isBuiltAlone ? layer.name : scope + "/" + layer.name;
  return out;
}

/// The mean of a penalty over the batch.
static void addPenalty(Call &call, const Layer &layer, Value out) {
  if (RegularizerPtr regularizer = layer.activityRegularizer())
    call.addLoss(
        call.t.div(regularizer->penalty(call.t, out), call.t.size(out, 0)));
}

Value Call::runOption(const Layer &layer, const char *attribute, Value x) {
  CallInputs inputs;
  inputs.values = {x};
  Call inner = inside(layer, attribute);
  Value out = layer.callAll(inner, inputs);
  addPenalty(inner, layer, out);
  return out;
}

Value weft::keras::callLayer(OpBuilder &builder, Variables &variables,
                             const Layer &layer, const std::string &path,
                             const CallInputs &inputs, bool training) {
  Tensors t(builder, NameLoc::get(builder.getStringAttr(layer.name)));
  Call call(t, variables, path, layer.trainable, training);
  for (Value value : inputs.values)
    if (tensorType(value).getElementType().isInteger() &&
        !layer.takesIntegers()) {
      call.refuse("is called with integers, which it does not take; begin with "
                  "an Embedding, or with an input of float32");
      return value;
    }
  Value out = layer.callAll(call, inputs);
  if (std::string why = oversize(Tensors::shape(out).drop_front(), kFloatBytes);
      !why.empty())
    call.refuse("a sample of its output " + sampleText(out) + " has " + why);
  addPenalty(call, layer, out);
  return out;
}
