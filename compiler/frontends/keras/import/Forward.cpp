//===- Forward.cpp - a model's calls as weft ops --------------------------===//

#include "weft/compiler/frontends/keras/import/Forward.h"
#include "weft/compiler/frontends/keras/model/NodeValues.h"

#include "llvm/ADT/ScopeExit.h"

#include <map>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// The values of variables that the model's reader has made.
class VariableValues : public Variables {
public:
  VariableValues(const Model &model, MutableArrayRef<Value> values)
      : values(values) {
    for (auto [i, variable] : llvm::enumerate(model.variables))
      indices[variable.key] = i;
  }

  Value get(const VariableRequest &request) override {
    return values[indices.at(keyOf(request))];
  }
  void set(const VariableRequest &request, Value value) override {
    values[indices.at(keyOf(request))] = value;
  }
  void replace(const VariableRequest &request, Value value) override {
    set(request, value);
  }
  Value &at(unsigned variable) { return values[variable]; }
  void construct(const Layer &, const Constructor &) override {}
  void construct(const InitializerPtr &, const Constructor &) override {}
  void addLoss(Value scalar) override { penalties.push_back(scalar); }
  void refuse(const std::string &complaint) override {
    if (status)
      status = Error{complaint};
  }

  SmallVector<Value> penalties;
  Status status;

private:
  static std::string keyOf(const VariableRequest &request) {
    return request.layer + "/" + request.name;
  }
  MutableArrayRef<Value> values;
  std::map<std::string, unsigned> indices;
};

} // namespace

namespace {
/// Runs the layers in order. Values move to the part of the mesh of the layer
/// that takes them.
class LayerRunner {
public:
  LayerRunner(OpBuilder &builder [[clang::lifetimebound]],
              const Model &model [[clang::lifetimebound]],
              VariableValues &store [[clang::lifetimebound]], bool training,
              const LayerLayouts &layouts [[clang::lifetimebound]])
      : builder(builder), model(model), store(store), training(training),
        layouts(layouts) {
    values.values.resize(model.nodes.size());
  }
  /// Runs the call that makes a node, and the nodes of its other results.
  LogicalResult run(unsigned node);
  /// Brings the value of a node from its layer's part to another.
  Value moved(unsigned node, const MeshPart &to);

  NodeValues values;

private:
  Value laidOut(unsigned node, Value value);
  Value put(const ModelLayer &layer, Value value, const LayerPlace &place);
  Location locationOf(unsigned node) const;
  CallResults call(unsigned node, Tensors &t, const CallInputs &with);
  const LayerPlace &placeOf(unsigned node) const {
    static const LayerPlace everywhere;
    return layouts.callPlaces.empty() ? everywhere : layouts.callPlaces[node];
  }

  OpBuilder &builder;
  const Model &model;
  VariableValues &store;
  bool training;
  const LayerLayouts &layouts;
  std::map<std::pair<void *, MeshPart>, Value> arrived; ///< by value and part
};
} // namespace

/// Constrains the value to a part of the mesh; its layout there is open.
Value LayerRunner::put(const ModelLayer &layer, Value value,
                       const LayerPlace &place) {
  int64_t rank = Tensors::rank(value);
  Layout layout = Layout::replicated(rank);
  layout.part = place.part;
  auto at = ConstrainOp::create(
      builder, NameLoc::get(builder.getStringAttr(layer.name)), value.getType(),
      value, LayoutAttr::get(cast<MeshAttr>(layouts.mesh), layout),
      place.reason.empty() ? StringAttr()
                           : builder.getStringAttr(place.reason));
  at->setAttr("weft.open", builder.getDenseI64ArrayAttr(
                               llvm::to_vector(llvm::seq<int64_t>(0, rank))));
  return at;
}

Value LayerRunner::moved(unsigned node, const MeshPart &to) {
  Value value = values.values[node];
  const LayerPlace &from = placeOf(node);
  if (from.part == to)
    return value;
  // The gradient comes back to where the value is computed. In a pipeline, those
  // of all uses on a stage come back together.
  const ModelLayer &layer = model.layers[model.nodes[node].layer];
  Value &known = arrived[{value.getAsOpaquePointer(), to}];
  if (known && layouts.isPipeline)
    return known;
  if ((from.part.empty() || layouts.isPipeline) && !layer.isInput())
    value = put(layer, value, from);
  return known = put(layer, value, {to, ""});
}

/// Constrains the value to its layer's layout, unless their ranks differ: the
/// layout is then for another result of the layer. Without a layout the value is
/// only put on the layer's part of the mesh.
Value LayerRunner::laidOut(unsigned number, Value value) {
  const ModelLayer &layer = model.layerOf(number);
  auto found = layouts.outputs.find(layer.name);
  if (found == layouts.outputs.end() ||
      int64_t(found->second.layout.dims.size()) != Tensors::rank(value))
    return placeOf(number).part.empty() ? value
                                        : put(layer, value, placeOf(number));
  Location loc = NameLoc::get(builder.getStringAttr(layer.name));
  Layout layout = found->second.layout;
  layout.part = placeOf(number).part;
  return ConstrainOp::create(
      builder, loc, value.getType(), value,
      LayoutAttr::get(cast<MeshAttr>(layouts.mesh), layout),
      builder.getStringAttr(found->second.reason));
}

static constexpr llvm::StringLiteral kCallName = "call ";

Location LayerRunner::locationOf(unsigned node) const {
  auto name = builder.getStringAttr(model.layerOf(node).layer->name);
  if (!layouts.namesCalls)
    return NameLoc::get(name);
  auto call = builder.getStringAttr(kCallName + Twine(node));
  return NameLoc::get(name, NameLoc::get(call));
}

std::optional<unsigned> weft::keras::callOf(Location location) {
  std::optional<unsigned> node;
  location->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    auto call = named ? dyn_cast<NameLoc>(named.getChildLoc()) : NameLoc();
    StringRef text = call ? call.getName().getValue() : StringRef();
    unsigned number = 0;
    if (!text.consume_front(kCallName) || text.getAsInteger(10, number))
      return WalkResult::advance();
    node = number;
    return WalkResult::interrupt();
  });
  return node;
}

/// Calls the layer. A call on another part of the mesh than the layer's variables
/// takes copies of them there; what it changes comes back.
CallResults LayerRunner::call(unsigned number, Tensors &t,
                              const CallInputs &with) {
  unsigned owner = model.nodes[number].layer;
  const ModelLayer &layer = model.layers[owner];
  auto run = [&] {
    return callLayer(t, store, *layer.layer, layer.path, with, training);
  };
  if (layouts.places.empty() ||
      layouts.places[owner].part == placeOf(number).part)
    return run();
  const LayerPlace &home = layouts.places[owner];
  std::map<unsigned, std::pair<Value, Value>> moved; ///< before, and copy
  for (unsigned i = 0; i < model.variables.size(); ++i) {
    if (model.variables[i].owner != owner)
      continue;
    Value before = store.at(i);
    Value &known = arrived[{before.getAsOpaquePointer(), placeOf(number).part}];
    if (!known)
      known = put(layer, put(layer, before, home),
                  {placeOf(number).part, "a further call of " + layer.name});
    moved[i] = {before, store.at(i) = known};
  }
  CallResults results = run();
  for (auto &[i, values] : moved)
    store.at(i) = store.at(i) == values.second ? values.first
                                               : put(layer, store.at(i), home);
  return results;
}

LogicalResult LayerRunner::run(unsigned number) {
  const Node &node = model.nodes[number];
  const ModelLayer &layer = model.layers[node.layer];
  values.changeMasks(node);
  const MeshPart &part = placeOf(number).part;
  // The call takes values on its part of the mesh; other calls take them as they
  // are.
  SmallVector<std::pair<unsigned, Value>> elsewhere;
  for (unsigned input : node.inputs) {
    Value value = values.values[input], here = moved(input, part);
    if (here == value)
      continue;
    if (Value mask = values.maskOf(value))
      values.setMask(here, put(layer, mask, {part, ""}));
    elsewhere.push_back({input, value});
    values.values[input] = here;
  }
  llvm::scope_exit restore([&] {
    for (auto [input, value] : llvm::reverse(elsewhere))
      values.values[input] = value;
  });
  if (layer.isModel()) {
    Value given = values.values[node.inputs[0]];
    values.values[number] = laidOut(number, given);
    values.setMask(values.values[number], values.maskOf(given));
    return success();
  }
  Tensors t(builder, locationOf(number));
  CallInputs with = values.inputsOf(node, t);
  CallResults given = call(number, t, with);
  if (!store.status)
    return emitError(NameLoc::get(builder.getStringAttr(layer.name)))
           << "layer \"" << layer.name << "\": " << store.status.message();
  if (layer.layer->facts().takesMasksOff)
    values.dropMasks(with);
  for (size_t k = 0; k < given.values.size(); ++k) {
    Value value = laidOut(number, given.values[k]);
    values.values[number + k] = value;
    values.setMask(value, given.masks[k]);
  }
  return success();
}

FailureOr<ForwardResult> weft::keras::buildForward(
    OpBuilder &builder, const Model &model, MutableArrayRef<Value> variables,
    ArrayRef<Value> inputs, bool training, const LayerLayouts &layouts) {
  VariableValues store(model, variables);
  LayerRunner runner(builder, model, store, training, layouts);
  for (auto [node, value] : llvm::zip_equal(model.inputs, inputs))
    runner.values.values[node] = value;
  for (unsigned i = 0; i < model.nodes.size(); ++i) {
    const ModelLayer &layer = model.layers[model.nodes[i].layer];
    bool isMade =
        layer.isInput() || (!layer.isModel() && model.nodes[i].result > 0);
    if (!isMade && failed(runner.run(i)))
      return failure();
  }
  ForwardResult result;
  for (unsigned node : model.outputs) {
    // Losses and metrics are computed on the whole mesh, and those of a pipeline
    // where the output is.
    result.outputs.push_back(layouts.isPipeline ? runner.values.values[node]
                                                : runner.moved(node, {}));
    result.masks.push_back(runner.values.maskOf(runner.values.values[node]));
  }
  result.penalties = std::move(store.penalties);
  return result;
}

Value weft::keras::withPenalties(Tensors &t, const Model &model,
                                 ArrayRef<Value> variables,
                                 ArrayRef<Value> penalties, Value loss) {
  Tensor total = t(loss);
  for (Value penalty : penalties)
    total = total + t.toFloat(penalty);
  for (auto [variable, value] : llvm::zip_equal(model.variables, variables))
    if (variable.regularizer && variable.trainable)
      total = total + t.toFloat(variable.regularizer->penalty(t, t(value)));
  return total;
}
