//===- GraphNodes.cpp - the calls of a graph, in order --------------------===//

#include "weft/compiler/frontends/keras/Graph.h"
#include "weft/dialects/weft/Sizes.h"

using namespace weft;
using namespace weft::keras;

/// Of an element of a variable or a value.
static constexpr int64_t kFloatBytes = 4;

namespace {

/// Models that call models that call models grow exponentially.
constexpr size_t kMostNodes = 1 << 16;

class GraphRunner {
public:
  GraphRunner(const Graphs &graphs, Model &model, std::string &error)
      : graphs(graphs), model(model), error(error) {}
  void run();

private:
  using Nodes = std::map<GraphTensor, unsigned>;
  Nodes connect(const Graph &graph, Nodes nodes);
  std::optional<unsigned> call(unsigned layer, unsigned input);
  std::optional<unsigned> callModel(unsigned layer, unsigned input);
  void addDenseVariables(unsigned index, const std::string &path, int64_t rows);
  void addSeedState(unsigned index);
  void addVariables();
  std::vector<unsigned> resolve(const Nodes &nodes,
                                const std::vector<GraphTensor> &tensors,
                                const std::string &where);
  void refuse(const std::string &what) {
    if (error.empty())
      error = what;
  }

  const Graphs &graphs;
  Model &model;
  std::string &error;
  std::map<unsigned, int64_t> kernelRows; ///< layer -> size of its last dim
};

/// The node of a call with the node `input`.
std::optional<unsigned> GraphRunner::call(unsigned index, unsigned input) {
  const Layer &layer = model.layers[index];
  if (model.nodes.size() >= kMostNodes) {
    refuse("layer " + inQuotes(layer.name) + ": the model makes more than " +
           std::to_string(kMostNodes) +
           " calls; call its nested models less often");
    return std::nullopt;
  }
  if (layer.kind == LayerKind::Nested)
    return callModel(index, input);
  const std::vector<int64_t> &shape = model.nodes[input].shape;
  std::string reason;
  std::vector<int64_t> result = resultShape(layer, shape, reason);
  if (!reason.empty())
    refuse("layer " + inQuotes(layer.name) + ": " + reason);
  else if (std::string why = oversize(result, kFloatBytes); !why.empty())
    refuse("layer " + inQuotes(layer.name) + ": a sample of its output " +
           shapeText(result) + " has " + why);
  if (layer.kind == LayerKind::Dense && error.empty()) {
    auto [rows, added] = kernelRows.try_emplace(index, shape.back());
    if (!added && rows->second != shape.back())
      refuse("layer " + inQuotes(layer.name) + ": is called with " +
             std::to_string(rows->second) + " and with " +
             std::to_string(shape.back()) + " features");
  }
  if (!error.empty())
    return std::nullopt;
  model.nodes.push_back({index, {input}, std::move(result), "float32"});
  return unsigned(model.nodes.size()) - 1;
}

/// Runs a nested model's own calls; its result is a node of the model itself.
std::optional<unsigned> GraphRunner::callModel(unsigned index, unsigned input) {
  const Graph &graph = graphs.nested.at(index);
  const std::vector<int64_t> &given = model.nodes[input].shape;
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
  model.nodes.push_back(
      {index, results, model.nodes[results[0]].shape, "float32"});
  return unsigned(model.nodes.size()) - 1;
}

GraphRunner::Nodes GraphRunner::connect(const Graph &graph, Nodes nodes) {
  for (bool progress = true; progress && error.empty();) {
    progress = false;
    for (const GraphCall &call : graph.calls) {
      if (!error.empty() || nodes.count(call.name))
        continue;
      auto input = nodes.find(call.inputs[0]);
      if (input == nodes.end())
        continue;
      if (auto node = this->call(call.layer, input->second))
        nodes[call.name] = *node;
      progress = true;
    }
  }
  for (const GraphCall &call : graph.calls)
    if (!nodes.count(call.name))
      refuse("layer " + inQuotes(call.name.first) + ": its input " +
             inQuotes(call.inputs[0].first) + " is never computed");
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

void GraphRunner::addDenseVariables(unsigned index, const std::string &path,
                                    int64_t rows) {
  Layer &layer = model.layers[index];
  const LayerDraft &draft = graphs.drafts[index];
  auto add = [&](const char *name, std::vector<int64_t> shape,
                 const Initializer &initializer) {
    if (std::string why = oversize(shape, kFloatBytes); !why.empty())
      refuse("layer " + inQuotes(layer.name) + ": its " + name + " " +
             shapeText(shape) + " has " + why + " (\"units\")");
    model.variables.push_back({path + "/" + name, std::move(shape), "float32",
                               layer.trainable, initializer, layer.name});
    return int(model.variables.size()) - 1;
  };
  layer.kernel = add("kernel", {rows, layer.units}, draft.kernelInitializer);
  if (draft.useBias)
    layer.bias = add("bias", {layer.units}, draft.biasInitializer);
  // Both initializers are constructed, even where no bias is made.
  if (drawsSeed(draft.kernelInitializer))
    model.draws.push_back(layer.kernel);
  if (drawsSeed(draft.biasInitializer))
    model.draws.push_back(layer.bias);
}

void GraphRunner::addSeedState(unsigned index) {
  Layer &layer = model.layers[index];
  const LayerDraft &draft = graphs.drafts[index];
  unsigned count = 0;
  for (const Variable &variable : model.variables)
    count += variable.initializer.className == "SeedGenerator";
  layer.seedState = model.variables.size();
  std::string name =
      count ? "seed_generator_" + std::to_string(count) : "seed_generator";
  model.variables.push_back({name + "/seed_generator_state",
                             {2},
                             "uint32",
                             false,
                             {"SeedGenerator", "{}", draft.stateSeed},
                             layer.name});
  if (!draft.stateSeed)
    model.draws.push_back(layer.seedState);
}

/// In the order of the file, nested models' layers in their place: the order in
/// which Keras makes them and hands out seeds.
void GraphRunner::addVariables() {
  for (unsigned i = 0; error.empty() && i < graphs.drafts.size(); ++i) {
    const LayerDraft &draft = graphs.drafts[i];
    const std::string &name = model.layers[i].name;
    auto rows = kernelRows.find(i);
    if (draft.layer.kind == LayerKind::Dropout && draft.drawsState)
      addSeedState(i);
    if (draft.layer.kind != LayerKind::Dense)
      continue;
    if (rows == kernelRows.end())
      return refuse("layer " + inQuotes(name) + ": is never called");
    bool prefixed = !draft.prefix.empty() && !draft.builtAlone;
    addDenseVariables(i, prefixed ? draft.prefix + "/" + name : name,
                      rows->second);
  }
}

void GraphRunner::run() {
  Nodes nodes;
  for (const GraphInput &input : graphs.whole.inputs) {
    nodes[input.name] = model.nodes.size();
    model.nodes.push_back({input.layer, {}, input.shape, "float32"});
  }
  nodes = connect(graphs.whole, std::move(nodes));
  if (error.empty()) {
    model.inputs = resolve(nodes, graphs.whole.start, "input_layers");
    model.outputs = resolve(nodes, graphs.whole.outputs, "output_layers");
  }
  addVariables();
}

} // namespace

void weft::keras::runGraphs(const Graphs &graphs, Model &model,
                            std::string &error) {
  GraphRunner(graphs, model, error).run();
}

std::vector<int64_t> weft::keras::resultShape(const Layer &layer,
                                              const std::vector<int64_t> &input,
                                              std::string &error) {
  auto count = [](const std::vector<int64_t> &shape) {
    return tensorBytes(shape, 1);
  };
  switch (layer.kind) {
  case LayerKind::Flatten:
    return {count(input)};
  case LayerKind::Dense: {
    if (input.empty()) {
      error = "a Dense layer needs an input of rank 2 or more";
      return {};
    }
    std::vector<int64_t> out = input;
    out.back() = layer.units;
    return out;
  }
  case LayerKind::Reshape: {
    std::vector<int64_t> out = layer.targetShape;
    int64_t known = 1, unknown = 0;
    for (int64_t size : out)
      size == -1 ? void(++unknown)
                 : void(known = saturatingMultiply(known, size));
    if (unknown > 1 || known < 1 ||
        (unknown ? count(input) % known : count(input) != known)) {
      error = "cannot reshape " + shapeText(input) + " to " + shapeText(out);
      return {};
    }
    for (int64_t &size : out)
      if (size == -1)
        size = count(input) / known;
    return out;
  }
  default:
    return input;
  }
}
