//===- GraphRunner.cpp - the calls of a graph, in order -------------------===//

#include "weft/base/config/Json.h"
#include "weft/compiler/frontends/keras/model/NodeValues.h"
#include "weft/compiler/frontends/keras/model/VariableMaker.h"
#include "weft/layout/Sizes.h"

#include "mlir/IR/MLIRContext.h"

#include "llvm/ADT/StringExtras.h"

#include <array>
#include <set>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static std::string inQuotes(const std::string &text) {
  return '"' + text + '"';
}

namespace {

/// The limit of nodes, whose number can grow exponentially with nested models.
constexpr size_t kMostNodes = 1 << 16;
/// The batch sizes with which each call is run while a model is read: a size
/// that differs between the two runs is the batch's. They are above the sizes
/// of parts that functions of keras.ops take of a batch.
constexpr std::array<int64_t, 2> kBatches = {1024, 1025};

/// The text of both runs, in which numbers that differ are the batch; the first
/// if the texts differ otherwise.
std::string inBatches(const std::string &first, const std::string &second) {
  std::string out;
  for (size_t i = 0, j = 0; i < first.size() || j < second.size();) {
    auto number = [](const std::string &text, size_t &at) {
      size_t begin = at;
      while (at < text.size() && llvm::isDigit(text[at]))
        ++at;
      return text.substr(begin, at - begin);
    };
    std::string a = number(first, i), b = number(second, j);
    bool isBatch =
        a == std::to_string(kBatches[0]) && b == std::to_string(kBatches[1]);
    if ((a != b && !isBatch) || (i < first.size()) != (j < second.size()) ||
        (i < first.size() && first[i] != second[j]))
      return first.empty() ? second : first;
    out += isBatch ? "batch" : a;
    if (i < first.size())
      out += first[i];
    ++i, ++j;
  }
  return out;
}

/// Runs each call and makes nodes for its results. The ops are in a block that
/// is discarded, as only their types are needed.
class GraphRunner {
public:
  GraphRunner(const Graphs &graphs [[clang::lifetimebound]],
              Model &model [[clang::lifetimebound]],
              Status &status [[clang::lifetimebound]])
      : context(MLIRContext::Threading::DISABLED), builder(&context),
        graphs(graphs), model(model), status(status),
        variables(graphs, model, builder, block, status) {
    context.loadDialect<WeftDialect>();
    builder.setInsertionPointToEnd(&block);
  }
  void run();

private:
  void checkInputs();
  using Nodes = std::map<GraphTensor, unsigned>;
  Nodes connect(const Graph &graph, Nodes nodes);
  void call(const GraphCall &call, Nodes &nodes);
  CallResults resultsOf(NodeValues &run, const Node &node,
                        const ModelLayer &layer);
  /// Keeps the masks that the call of a nested model gives to its inputs for
  /// the next node.
  void giveMasks(const GraphCall &call, const std::vector<unsigned> &inputs);
  /// Adds the nodes of a nested model, and returns those of its results.
  std::vector<unsigned> callModel(const GraphCall &call,
                                  std::vector<unsigned> inputs);
  bool fits(unsigned layer, const GraphInput &wanted, unsigned input);
  /// The value of a node in each run.
  using Values = std::array<Value, kBatches.size()>;
  void addNode(Node node, const Values &values);
  Values valuesOf(unsigned node) const {
    return {runs[0].values[node], runs[1].values[node]};
  }
  void addInput(const GraphInput &input);
  void checkOutput(unsigned node);
  bool isReady(const GraphCall &call, const Nodes &nodes) const;
  std::vector<unsigned> resolve(const Nodes &nodes,
                                const std::vector<GraphTensor> &tensors,
                                const std::string &where);
  std::vector<std::string> namesOf(const std::vector<unsigned> &nodes,
                                   const std::vector<std::string> &keys) const;
  void refuse(const std::string &what) {
    if (status)
      status = Error{what};
  }

  MLIRContext context;
  OpBuilder builder;
  Block block;
  const Graphs &graphs;
  Model &model;
  Status &status;
  VariableMaker variables;
  std::array<NodeValues, kBatches.size()> runs;
  std::vector<std::pair<unsigned, unsigned>> newMasks; ///< the next node's
};

void GraphRunner::addNode(Node node, const Values &values) {
  ArrayRef<int64_t> first = Tensors::shape(values[0]),
                    second = Tensors::shape(values[1]);
  for (size_t dim = 1; dim < first.size(); ++dim) {
    bool isFixed = dim < second.size() && first[dim] == second[dim];
    node.shape.push_back(isFixed ? first[dim] : -1);
  }
  node.dtype = dtypeOf(values[0]);
  model.nodes.push_back(std::move(node));
  for (auto [run, value] : llvm::zip_equal(runs, values))
    run.values.push_back(value);
}

/// Adds the nodes of a call; its inputs have nodes already.
void GraphRunner::call(const GraphCall &call, Nodes &nodes) {
  const ModelLayer &entry = model.layers[call.layer];
  if (model.nodes.size() >= kMostNodes)
    return refuse("layer " + inQuotes(entry.name) +
                  ": the model makes more than " + std::to_string(kMostNodes) +
                  " calls; call its nested models less often");
  Node node;
  node.layer = call.layer;
  for (const GraphTensor &tensor : call.inputs)
    node.inputs.push_back(nodes.at(tensor));
  if (entry.isModel())
    giveMasks(call, node.inputs);
  auto add = [&](const Values &values) {
    GraphTensor name = call.name;
    name.result = node.result;
    nodes[name] = unsigned(model.nodes.size());
    addNode(node, values);
    ++node.result;
  };
  if (entry.isModel()) {
    node.inputs.resize(call.arguments.positionalTensors());
    for (unsigned result : callModel(call, node.inputs)) {
      node.inputs = {result};
      node.newMasks = std::exchange(newMasks, {});
      for (NodeValues &run : runs)
        run.changeMasks(node);
      add(valuesOf(result));
    }
    return;
  }
  node.arguments = call.arguments;
  node.newMasks = std::exchange(newMasks, {});
  variables.enter(call.layer);
  std::array<CallResults, kBatches.size()> results;
  std::array<std::string, kBatches.size()> errors;
  for (size_t i = 0; i < runs.size(); ++i) {
    results[i] = resultsOf(runs[i], node, entry);
    errors[i] = status ? "" : status.message();
    status = {};
    variables.repeat();
  }
  if (std::string both = inBatches(errors[0], errors[1]); !both.empty())
    return refuse(both);
  size_t count = std::min(results[0].values.size(), results[1].values.size());
  for (size_t k = 0; k < count; ++k) {
    add({results[0].values[k], results[1].values[k]});
    for (size_t i = 0; i < runs.size(); ++i)
      runs[i].setMask(results[i].values[k], results[i].masks[k]);
  }
}

CallResults GraphRunner::resultsOf(NodeValues &run, const Node &node,
                                   const ModelLayer &layer) {
  run.changeMasks(node);
  Tensors t(builder, builder.getUnknownLoc());
  CallInputs inputs = run.inputsOf(node, t);
  CallResults results =
      callLayer(t, variables, *layer.layer, layer.path, inputs, true);
  if (layer.layer->facts().takesMasksOff)
    run.dropMasks(inputs);
  return results;
}

/// Whether the node's shape fits the input of a nested model; refuses it
/// otherwise.
bool GraphRunner::fits(unsigned layer, const GraphInput &wanted,
                       unsigned input) {
  const std::vector<int64_t> &given = model.nodes[input].shape;
  bool fits = wanted.shape.size() == given.size();
  for (size_t i = 0; fits && i < given.size(); ++i)
    fits = wanted.shape[i] == -1 || wanted.shape[i] == given[i];
  if (!fits)
    refuse("layer " + inQuotes(model.layers[layer].name) +
           ": takes samples of shape " + shapeText(wanted.shape) +
           ", but is called with " + shapeText(given));
  return fits;
}

/// The tensors of a call. Those of a single argument that is a dict are ordered
/// as the inputs of the nested model.
static std::vector<unsigned> inOrder(const Graph &graph, const GraphCall &call,
                                     const std::vector<unsigned> &inputs) {
  const std::vector<Argument> &arguments = call.arguments.positional;
  if (arguments.size() != 1 || arguments[0].kind != Argument::Kind::Object)
    return inputs;
  std::vector<unsigned> out;
  for (size_t i = 0; i < graph.start.size(); ++i) {
    const Argument *item = arguments[0].item(
        i < graph.startKeys.size() ? graph.startKeys[i] : graph.start[i].layer);
    if (item && item->isTensor())
      out.push_back(inputs[item->integer]);
  }
  return out;
}

void GraphRunner::giveMasks(const GraphCall &call,
                            const std::vector<unsigned> &inputs) {
  const Argument *written = call.arguments.keyword("mask");
  if (!written)
    return;
  ArrayRef<Argument> items =
      written->isTensor() ? ArrayRef(*written) : ArrayRef(written->items);
  for (size_t i = 0; i < items.size() && i < inputs.size(); ++i)
    if (items[i].isTensor())
      newMasks.emplace_back(inputs[i], inputs[items[i].integer]);
}

std::vector<unsigned> GraphRunner::callModel(const GraphCall &call,
                                             std::vector<unsigned> inputs) {
  const Graph &graph = graphs.nested.at(call.layer);
  inputs = inOrder(graph, call, inputs);
  if (inputs.size() != graph.start.size()) {
    refuse("layer " + inQuotes(model.layers[call.layer].name) + ": takes " +
           std::to_string(graph.start.size()) +
           " tensors, but is called with " + std::to_string(inputs.size()));
    return {};
  }
  Nodes nodes;
  for (auto [tensor, input] : llvm::zip_equal(graph.start, inputs)) {
    nodes[tensor] = input;
    for (const GraphInput &wanted : graph.inputs)
      if (wanted.name == tensor && !fits(call.layer, wanted, input))
        return {};
  }
  nodes = connect(graph, std::move(nodes));
  return resolve(nodes, graph.outputs, "output_layers");
}

bool GraphRunner::isReady(const GraphCall &call, const Nodes &nodes) const {
  for (const GraphTensor &tensor : call.inputs)
    if (!nodes.count(tensor))
      return false;
  return true;
}

GraphRunner::Nodes GraphRunner::connect(const Graph &graph, Nodes nodes) {
  for (bool progress = true; progress && status;) {
    progress = false;
    for (const GraphCall &call : graph.calls) {
      if (!status || nodes.count(call.name) || !isReady(call, nodes))
        continue;
      this->call(call, nodes);
      progress = true;
    }
  }
  for (const GraphCall &call : graph.calls)
    if (!nodes.count(call.name))
      for (const GraphTensor &tensor : call.inputs)
        if (!nodes.count(tensor))
          refuse("layer " + inQuotes(call.name.layer) + ": its input " +
                 inQuotes(tensor.layer) + " is never computed");
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
      refuse(where + ": " + inQuotes(tensor.layer) +
             " is no layer of the model");
    else
      out.push_back(node->second);
  }
  return out;
}

void GraphRunner::addInput(const GraphInput &input) {
  const ModelLayer &layer = model.layers[input.layer];
  if (std::string why = oversize(input.shape, 4); !why.empty())
    return refuse("layer " + inQuotes(layer.name) +
                  ": a sample of its output " + shapeText(input.shape) +
                  " has " + why);
  Type element = typeOf(builder, layer.input->dtype);
  Node node;
  node.layer = input.layer;
  Values values;
  for (auto [value, batch] : llvm::zip_equal(values, kBatches)) {
    SmallVector<int64_t> shape = {batch};
    llvm::append_range(shape, input.shape);
    value = block.addArgument(RankedTensorType::get(shape, element),
                              builder.getUnknownLoc());
  }
  addNode(node, values);
}

/// Checks that the output has one row for each sample, and that no other size
/// grows with the batch.
void GraphRunner::checkOutput(unsigned node) {
  ArrayRef<int64_t> first = Tensors::shape(runs[0].values[node]),
                    second = Tensors::shape(runs[1].values[node]);
  if (!first.empty() && !second.empty() && first[0] == kBatches[0] &&
      second[0] == kBatches[1] && first.drop_front() == second.drop_front())
    return;
  refuse("layer " + inQuotes(model.layerOf(node).name) + ": is an output of " +
         "shape " + inBatches(shapeText(first), shapeText(second)) +
         "; the first dimension, and no other, must be the "
         "batch");
}

/// The keys or, without keys, the layers' names; repeated names are numbered.
std::vector<std::string>
GraphRunner::namesOf(const std::vector<unsigned> &nodes,
                     const std::vector<std::string> &keys) const {
  if (!keys.empty())
    return keys;
  std::vector<std::string> out;
  std::map<std::string, unsigned> counts;
  for (unsigned node : nodes) {
    std::string name = model.layerOf(node).name;
    if (unsigned earlier = counts[name]++)
      name += "_" + std::to_string(earlier);
    out.push_back(name);
  }
  return out;
}

/// Checks that each InputLayer is an input once, and there are no other inputs.
void GraphRunner::checkInputs() {
  std::set<unsigned> listed;
  auto refuse = [&](const std::string &name, const char *why) {
    if (status)
      status = Error{"input_layers: " + inQuotes(name) + " " + why +
                     "; list each InputLayer once"};
  };
  for (unsigned node : model.inputs) {
    const ModelLayer &layer = model.layerOf(node);
    if (!layer.isInput())
      refuse(layer.name, "is no InputLayer");
    if (!listed.insert(node).second)
      refuse(layer.name, "stands there twice");
  }
  for (unsigned node = 0; node < model.nodes.size(); ++node)
    if (model.layerOf(node).isInput() && !listed.contains(node))
      refuse(model.layerOf(node).name, "is missing");
}

void GraphRunner::run() {
  Nodes nodes;
  for (const GraphInput &input : graphs.model.inputs) {
    nodes[input.name] = model.nodes.size();
    addInput(input);
  }
  if (status)
    nodes = connect(graphs.model, std::move(nodes));
  if (status) {
    model.inputs = resolve(nodes, graphs.model.start, "input_layers");
    checkInputs();
    model.outputs = resolve(nodes, graphs.model.outputs, "output_layers");
    for (unsigned node : model.outputs)
      checkOutput(node);
    model.inputNames = namesOf(model.inputs, graphs.model.startKeys);
    model.outputNames = namesOf(model.outputs, graphs.model.outputKeys);
    model.outputsAreDict = !graphs.model.outputKeys.empty();
  }
  variables.finish();
}

} // namespace

void weft::keras::runGraphs(const Graphs &graphs, Model &model,
                            Status &status) {
  GraphRunner(graphs, model, status).run();
}
