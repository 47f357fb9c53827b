//===- Forward.cpp - a model's calls as weft ops --------------------------===//

#include "weft/compiler/frontends/keras/import/Forward.h"
#include "weft/compiler/frontends/keras/layers/Call.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// Finds the variables that the model's reader has made.
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
  void construct(const Layer &) override {}
  void addLoss(Value scalar) override { penalties.push_back(scalar); }
  void refuse(const std::string &complaint) override {
    if (error.empty())
      error = complaint;
  }

  SmallVector<Value> penalties;
  std::string error;

private:
  static std::string keyOf(const VariableRequest &request) {
    return request.layer + "/" + request.name;
  }
  MutableArrayRef<Value> values;
  std::map<std::string, unsigned> indices;
};

} // namespace

/// What a node is called with.
static CallInputs inputsOf(const Node &node, ArrayRef<Value> values) {
  CallInputs out;
  for (unsigned input : node.inputs)
    out.values.push_back(values[input]);
  for (const auto &[name, input] : node.tensors)
    out.tensors[name] = values[input];
  out.flags = node.flags;
  out.arguments = node.arguments;
  return out;
}

FailureOr<ForwardResult>
weft::keras::buildForward(OpBuilder &builder, const Model &model,
                          MutableArrayRef<Value> variables,
                          ArrayRef<Value> inputs, bool training,
                          const OutputLayouts &layouts, Attribute mesh) {
  VariableValues store(model, variables);
  SmallVector<Value> values(model.nodes.size());
  for (auto [node, value] : llvm::zip_equal(model.inputs, inputs))
    values[node] = value;
  for (unsigned i = 0; i < model.nodes.size(); ++i) {
    const Node &node = model.nodes[i];
    const ModelLayer &layer = model.layers[node.layer];
    if (layer.isInput())
      continue;
    Location loc = NameLoc::get(builder.getStringAttr(layer.name));
    values[i] = layer.isModel()
                    ? values[node.inputs[0]]
                    : callLayer(builder, store, *layer.layer, layer.path,
                                inputsOf(node, values), training);
    if (!store.error.empty())
      return emitError(loc)
             << "layer \"" << layer.name << "\": " << store.error;
    auto layout = layouts.find(layer.name);
    if (layout != layouts.end())
      values[i] = ConstrainOp::create(
          builder, loc, values[i].getType(), values[i],
          LayoutAttr::get(cast<MeshAttr>(mesh), layout->second.layout),
          builder.getStringAttr(layout->second.reason));
  }
  ForwardResult result;
  for (unsigned node : model.outputs)
    result.outputs.push_back(values[node]);
  result.penalties = std::move(store.penalties);
  return result;
}
