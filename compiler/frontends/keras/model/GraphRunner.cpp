//===- GraphRunner.cpp - the calls of a graph, in order -------------------===//

#include "weft/compiler/frontends/keras/model/VariableMaker.h"
#include "weft/dialects/weft/Sizes.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static std::string inQuotes(const std::string &text) {
  return '"' + text + '"';
}

namespace {

/// Models that call models that call models grow exponentially.
constexpr size_t kMostNodes = 1 << 16;

/// Makes a node for each call. The ops of the calls stand in a block that is
/// thrown away: only their types are looked at.
class GraphRunner {
public:
  GraphRunner(const Graphs &graphs, Model &model, std::string &error)
      : context(MLIRContext::Threading::DISABLED), builder(&context),
        graphs(graphs), model(model), error(error),
        variables(graphs, model, builder, block, error) {
    context.loadDialect<WeftDialect>();
    builder.setInsertionPointToEnd(&block);
  }
  void run();

private:
  using Nodes = std::map<GraphTensor, unsigned>;
  Nodes connect(const Graph &graph, Nodes nodes);
  std::optional<unsigned> call(const GraphCall &call, const Nodes &nodes);
  std::optional<unsigned> callModel(unsigned layer, unsigned input);
  unsigned addNode(Node node, Value value);
  void addInput(const GraphInput &input);
  bool isReady(const GraphCall &call, const Nodes &nodes) const;
  std::vector<unsigned> resolve(const Nodes &nodes,
                                const std::vector<GraphTensor> &tensors,
                                const std::string &where);
  void refuse(const std::string &what) {
    if (error.empty())
      error = what;
  }

  MLIRContext context;
  OpBuilder builder;
  Block block;
  const Graphs &graphs;
  Model &model;
  std::string &error;
  VariableMaker variables;
  std::vector<Value> values; ///< of each node, for a batch of 1
};

unsigned GraphRunner::addNode(Node node, Value value) {
  node.shape = Tensors::shape(value).drop_front().vec();
  node.dtype =
      tensorType(value).getElementType().isInteger() ? "int32" : "float32";
  model.nodes.push_back(std::move(node));
  values.push_back(value);
  return unsigned(values.size()) - 1;
}

/// The node of a call whose inputs are nodes.
std::optional<unsigned> GraphRunner::call(const GraphCall &call,
                                          const Nodes &nodes) {
  const ModelLayer &entry = model.layers[call.layer];
  if (model.nodes.size() >= kMostNodes) {
    refuse("layer " + inQuotes(entry.name) + ": the model makes more than " +
           std::to_string(kMostNodes) +
           " calls; call its nested models less often");
    return std::nullopt;
  }
  Node node;
  node.layer = call.layer;
  CallInputs inputs;
  for (const GraphTensor &tensor : call.inputs) {
    node.inputs.push_back(nodes.at(tensor));
    inputs.values.push_back(values[node.inputs.back()]);
  }
  if (entry.isModel()) {
    if (node.inputs.size() == 1)
      return callModel(call.layer, node.inputs[0]);
    refuse("layer " + inQuotes(entry.name) +
           ": a model inside another is called with one tensor, not " +
           std::to_string(node.inputs.size()));
    return std::nullopt;
  }
  for (const auto &[name, tensor] : call.tensors) {
    node.tensors[name] = nodes.at(tensor);
    inputs.tensors[name] = values[node.tensors[name]];
  }
  node.flags = inputs.flags = call.flags;
  variables.enter(call.layer);
  Value value =
      callLayer(builder, variables, *entry.layer, entry.path, inputs, true);
  if (!error.empty())
    return std::nullopt;
  return addNode(std::move(node), value);
}

/// Runs a nested model's own calls; its result is a node of the model itself.
std::optional<unsigned> GraphRunner::callModel(unsigned index, unsigned input) {
  const Graph &graph = graphs.nested.at(index);
  const std::vector<int64_t> given = model.nodes[input].shape;
  for (const GraphInput &wanted : graph.inputs) {
    bool fits = wanted.shape.size() == given.size();
    for (size_t i = 0; fits && i < given.size(); ++i)
      fits = wanted.shape[i] == -1 || wanted.shape[i] == given[i];
    if (!fits) {
      refuse("layer " + inQuotes(model.layers[index].name) +
             ": takes samples of shape " + shapeText(wanted.shape) +
             ", but is called with " + shapeText(given));
      return std::nullopt;
    }
  }
  Nodes nodes = connect(graph, {{graph.start[0], input}});
  std::vector<unsigned> results =
      resolve(nodes, graph.outputs, "output_layers");
  if (!error.empty())
    return std::nullopt;
  Node node;
  node.layer = index;
  node.inputs = results;
  return addNode(std::move(node), values[results[0]]);
}

bool GraphRunner::isReady(const GraphCall &call, const Nodes &nodes) const {
  for (const GraphTensor &tensor : call.inputs)
    if (!nodes.count(tensor))
      return false;
  for (const auto &[name, tensor] : call.tensors)
    if (!nodes.count(tensor))
      return false;
  return true;
}

GraphRunner::Nodes GraphRunner::connect(const Graph &graph, Nodes nodes) {
  for (bool progress = true; progress && error.empty();) {
    progress = false;
    for (const GraphCall &call : graph.calls) {
      if (!error.empty() || nodes.count(call.name) || !isReady(call, nodes))
        continue;
      if (auto node = this->call(call, nodes))
        nodes[call.name] = *node;
      progress = true;
    }
  }
  for (const GraphCall &call : graph.calls)
    if (!nodes.count(call.name))
      for (const GraphTensor &tensor : call.inputs)
        if (!nodes.count(tensor))
          refuse("layer " + inQuotes(call.name.first) + ": its input " +
                 inQuotes(tensor.first) + " is never computed");
  return nodes;
}

std::vector<unsigned>
GraphRunner::resolve(const Nodes &nodes,
                     const std::vector<GraphTensor> &tensors,
                     const std::string &where) {
  std::vector<unsigned> out;
  for (const GraphTensor &tensor : tensors) {
    auto node = nodes.find(tensor);
    if (node == nodes.end())
      refuse(where + ": " + inQuotes(tensor.first) +
             " is no layer of the model");
    else
      out.push_back(node->second);
  }
  return out;
}

void GraphRunner::addInput(const GraphInput &input) {
  std::vector<int64_t> shape = {1};
  shape.insert(shape.end(), input.shape.begin(), input.shape.end());
  const ModelLayer &layer = model.layers[input.layer];
  if (std::string why = oversize(input.shape, 4); !why.empty())
    return refuse("layer " + inQuotes(layer.name) +
                  ": a sample of its output " + shapeText(input.shape) +
                  " has " + why);
  Type element = layer.input->dtype == "int32" ? Type(builder.getI32Type())
                                               : builder.getF32Type();
  Node node;
  node.layer = input.layer;
  addNode(node, block.addArgument(RankedTensorType::get(shape, element),
                                  builder.getUnknownLoc()));
}

void GraphRunner::run() {
  Nodes nodes;
  for (const GraphInput &input : graphs.whole.inputs) {
    nodes[input.name] = model.nodes.size();
    addInput(input);
  }
  if (error.empty())
    nodes = connect(graphs.whole, std::move(nodes));
  if (error.empty()) {
    model.inputs = resolve(nodes, graphs.whole.start, "input_layers");
    model.outputs = resolve(nodes, graphs.whole.outputs, "output_layers");
  }
  variables.finish();
}

} // namespace

void weft::keras::runGraphs(const Graphs &graphs, Model &model,
                            std::string &error) {
  GraphRunner(graphs, model, error).run();
}
