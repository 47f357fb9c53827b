//===- Forward.cpp - a model's calls as weft ops --------------------------===//

#include "weft/compiler/frontends/keras/import/Forward.h"
#include "weft/compiler/frontends/keras/model/NodeValues.h"

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

/// Constrains the value to its layer's layout, unless their ranks differ: the
/// layout is then for another result of the layer.
static Value laidOut(OpBuilder &builder, const ModelLayer &layer, Value value,
                     const OutputLayouts &layouts, Attribute mesh) {
  auto found = layouts.find(layer.name);
  if (found == layouts.end() ||
      int64_t(found->second.layout.dims.size()) != Tensors::rank(value))
    return value;
  Location loc = NameLoc::get(builder.getStringAttr(layer.name));
  return ConstrainOp::create(
      builder, loc, value.getType(), value,
      LayoutAttr::get(cast<MeshAttr>(mesh), found->second.layout),
      builder.getStringAttr(found->second.reason));
}

FailureOr<ForwardResult>
weft::keras::buildForward(OpBuilder &builder, const Model &model,
                          MutableArrayRef<Value> variables,
                          ArrayRef<Value> inputs, bool training,
                          const OutputLayouts &layouts, Attribute mesh) {
  VariableValues store(model, variables);
  NodeValues values;
  values.values.resize(model.nodes.size());
  for (auto [node, value] : llvm::zip_equal(model.inputs, inputs))
    values.values[node] = value;
  for (unsigned i = 0; i < model.nodes.size(); ++i) {
    const Node &node = model.nodes[i];
    const ModelLayer &layer = model.layers[node.layer];
    if (layer.isInput() || (!layer.isModel() && node.result > 0))
      continue;
    values.changeMasks(node);
    if (layer.isModel()) {
      Value given = values.values[node.inputs[0]];
      values.values[i] = laidOut(builder, layer, given, layouts, mesh);
      values.setMask(values.values[i], values.maskOf(given));
      continue;
    }
    Tensors t(builder, NameLoc::get(builder.getStringAttr(layer.layer->name)));
    CallInputs with = values.inputsOf(node, t);
    CallResults given =
        callLayer(t, store, *layer.layer, layer.path, with, training);
    if (!store.status)
      return emitError(NameLoc::get(builder.getStringAttr(layer.name)))
             << "layer \"" << layer.name << "\": " << store.status.message();
    if (layer.layer->facts().takesMasksOff)
      values.dropMasks(with);
    for (size_t k = 0; k < given.values.size(); ++k) {
      Value value = laidOut(builder, layer, given.values[k], layouts, mesh);
      values.values[i + k] = value;
      values.setMask(value, given.masks[k]);
    }
  }
  ForwardResult result;
  for (unsigned node : model.outputs) {
    result.outputs.push_back(values.values[node]);
    result.masks.push_back(values.maskOf(values.values[node]));
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
