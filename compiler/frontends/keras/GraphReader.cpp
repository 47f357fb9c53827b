//===- GraphReader.cpp - how layers call each other -----------------------===//

#include "weft/compiler/frontends/keras/ModelReader.h"

#include <numeric>

using namespace weft::keras;

namespace {

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    out += (i ? ", " : "") + (shape[i] < 0 ? "null" : std::to_string(shape[i]));
  return out + ")";
}

/// A tensor of the graph: which call of which layer.
using Tensor = std::pair<std::string, int64_t>;

class GraphReader {
public:
  GraphReader(const ModelOptions &options, Model &model, std::string &error)
      : options(options), model(model), error(error) {}
  void readSequential(const Json &config);
  void readFunctional(const Json &config);

private:
  unsigned addLayer(LayerDraft draft);
  void addVariables(unsigned index, const LayerDraft &draft, int64_t lastDim);
  void addNode(unsigned layer, std::vector<unsigned> inputs, Tensor name);
  void addInput(unsigned layer, std::vector<int64_t> shape, Tensor name);
  std::vector<Tensor> readTensors(const Json *json, const std::string &where);
  Tensor readTriple(const Json &json, const std::string &where);
  void readCalls(const Json &json, unsigned layer);
  void connect();
  std::vector<unsigned> resolve(const std::vector<Tensor> &tensors,
                                const std::string &where);
  void finishVariables();
  void refuse(const std::string &what) {
    if (error.empty())
      error = what;
  }

  struct Call {
    unsigned layer;
    Tensor name;
    std::vector<Tensor> inputs;
  };

  const ModelOptions &options;
  Model &model;
  std::string &error;
  std::vector<LayerDraft> drafts;
  std::map<Tensor, unsigned> nodes;
  std::vector<Call> calls;
  std::map<unsigned, int64_t> kernelRows; ///< layer -> size of its last dim
  bool prefixed = false; ///< a Sequential: paths of layers built with it
};

unsigned GraphReader::addLayer(LayerDraft draft) {
  for (const Layer &layer : model.layers)
    if (layer.name == draft.layer.name)
      refuse("layer " + inQuotes(layer.name) +
             " is written twice; layers need different names");
  model.layers.push_back(draft.layer);
  drafts.push_back(std::move(draft));
  return model.layers.size() - 1;
}

void GraphReader::addInput(unsigned layer, std::vector<int64_t> shape,
                           Tensor name) {
  const std::string &layerName = model.layers[layer].name;
  auto given = options.inputShapes.find(layerName);
  if (given == options.inputShapes.end())
    given = options.inputShapes.find("");
  if (given != options.inputShapes.end()) {
    bool fits = given->second.size() == shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i)
      fits = shape[i] == -1 || shape[i] == given->second[i];
    if (!fits)
      return refuse("layer " + inQuotes(layerName) + ": shape " +
                    shapeText(given->second) + " does not fit the model's " +
                    shapeText(shape));
    shape = given->second;
  }
  for (int64_t size : shape)
    if (size < 1)
      return refuse("layer " + inQuotes(layerName) + ": shape " +
                    shapeText(shape) + " has an unknown dimension; give it with --shape " +
                    layerName + "=...");
  model.inputs.push_back(model.nodes.size());
  nodes[name] = model.nodes.size();
  model.nodes.push_back({layer, {}, std::move(shape), "float32"});
}

void GraphReader::addNode(unsigned index, std::vector<unsigned> inputs,
                          Tensor name) {
  const Layer &layer = model.layers[index];
  const std::vector<int64_t> &input = model.nodes[inputs[0]].shape;
  std::string reason;
  std::vector<int64_t> shape = resultShape(layer, input, reason);
  if (!reason.empty())
    return refuse("layer " + inQuotes(layer.name) + ": " + reason);
  if (layer.kind == LayerKind::Dense) {
    auto [rows, added] = kernelRows.try_emplace(index, input.back());
    if (!added && rows->second != input.back())
      return refuse("layer " + inQuotes(layer.name) + ": is called with " +
                    std::to_string(rows->second) + " and with " +
                    std::to_string(input.back()) + " features");
  }
  nodes[name] = model.nodes.size();
  model.nodes.push_back({index, std::move(inputs), std::move(shape), "float32"});
}

void GraphReader::addVariables(unsigned index, const LayerDraft &draft,
                               int64_t rows) {
  Layer &layer = model.layers[index];
  std::string path = prefixed && !draft.builtAlone
                         ? model.name + "/" + layer.name
                         : layer.name;
  auto add = [&](const char *name, std::vector<int64_t> shape,
                 const Initializer &initializer) {
    model.variables.push_back({path + "/" + name, std::move(shape), "float32",
                               layer.trainable, initializer, layer.name});
    return int(model.variables.size()) - 1;
  };
  if (layer.kind == LayerKind::Dense) {
    layer.kernel = add("kernel", {rows, layer.units}, draft.kernelInitializer);
    if (draft.useBias)
      layer.bias = add("bias", {layer.units}, draft.biasInitializer);
    // Both initializers are constructed, even where no bias is made.
    if (drawsSeed(draft.kernelInitializer))
      model.draws.push_back(layer.kernel);
    if (drawsSeed(draft.biasInitializer))
      model.draws.push_back(layer.bias);
  }
  if (layer.kind == LayerKind::Dropout && draft.drawsState) {
    unsigned count = 0;
    for (const Variable &variable : model.variables)
      count += variable.initializer.className == "SeedGenerator";
    layer.seedState = model.variables.size();
    std::string name =
        count ? "seed_generator_" + std::to_string(count) : "seed_generator";
    model.variables.push_back({name + "/seed_generator_state", {2}, "uint32",
                               false, {"SeedGenerator", "{}", draft.stateSeed},
                               layer.name});
    if (!draft.stateSeed)
      model.draws.push_back(layer.seedState);
  }
}

void GraphReader::finishVariables() {
  for (unsigned i = 0; error.empty() && i < drafts.size(); ++i) {
    auto rows = kernelRows.find(i);
    if (model.layers[i].kind == LayerKind::Dense && rows == kernelRows.end())
      return refuse("layer " + inQuotes(model.layers[i].name) +
                    ": is never called");
    addVariables(i, drafts[i], rows == kernelRows.end() ? 0 : rows->second);
  }
}

void GraphReader::readSequential(const Json &config) {
  prefixed = true;
  Fields f(config, "Sequential", error);
  model.name = f.text("name", "sequential");
  readPolicy(f);
  if (!f.boolean("trainable", true))
    f.refuse("\"trainable\" = false is not supported; freeze its layers instead");
  std::vector<int64_t> shape = f.shape("build_input_shape");
  const Json *layers = f.find("layers");
  f.finish();
  if (!layers || !layers->is_array() || layers->empty())
    f.refuse("\"layers\" must be a list of layers");
  for (unsigned i = 0; error.empty() && i < layers->size(); ++i) {
    LayerDraft draft = readLayer((*layers)[i], error);
    if (!error.empty())
      return;
    std::vector<int64_t> inputShape = draft.inputShape;
    bool isInput = draft.layer.kind == LayerKind::Input;
    if (i == 0 && !isInput) {
      auto given = options.inputShapes.find("");
      if (!shape.empty())
        inputShape.assign(shape.begin() + 1, shape.end());
      else if (given != options.inputShapes.end())
        inputShape = given->second;
      else
        return refuse("the model has no input shape; give it with --shape");
      LayerDraft input;
      input.layer.className = "InputLayer";
      input.layer.name = "input_layer";
      addInput(addLayer(input), inputShape, {"input_layer", 0});
    }
    unsigned index = addLayer(std::move(draft));
    Tensor name{model.layers[index].name, 0};
    if (isInput && i == 0)
      addInput(index, inputShape, name);
    else if (isInput)
      refuse("layer " + inQuotes(name.first) + ": an input comes first");
    else if (error.empty())
      addNode(index, {unsigned(model.nodes.size()) - 1}, name);
  }
  if (error.empty())
    model.outputs = {unsigned(model.nodes.size()) - 1};
  finishVariables();
}

Tensor GraphReader::readTriple(const Json &json, const std::string &where) {
  if (json.is_array() && json.size() == 3 && json[0].is_string() &&
      json[1].is_number_integer() && json[2].is_number_integer()) {
    if (json[2].get<int64_t>() != 0)
      refuse(where + ": " + shortText(json) + " is no result of a supported layer");
    return {json[0].get<std::string>(), json[1].get<int64_t>()};
  }
  refuse(where + ": expected [layer, call, result], found " + shortText(json));
  return {};
}

std::vector<Tensor> GraphReader::readTensors(const Json *json,
                                             const std::string &where) {
  std::vector<Tensor> out;
  if (!json || json->empty()) {
    refuse(where + ": is missing");
    return out;
  }
  if (json->is_array() && (*json)[0].is_string()) // one tensor since Keras 3.11
    return {readTriple(*json, where)};
  for (const Json &entry : *json) // a list, or the values of a dict
    out.push_back(readTriple(entry, where));
  return out;
}

void GraphReader::readCalls(const Json &json, unsigned layer) {
  const std::string name = model.layers[layer].name;
  const std::string where = "layer " + inQuotes(name);
  if (!json.contains("inbound_nodes") || !json["inbound_nodes"].is_array())
    return refuse(where + ": has no list \"inbound_nodes\"");
  int64_t index = 0;
  for (const Json &node : json["inbound_nodes"]) {
    Call call{layer, {name, index++}, {}};
    Fields f(node, where + ": inbound_nodes", error);
    const Json *args = f.find("args"), *kwargs = f.find("kwargs");
    f.finish();
    if (!args || !args->is_array() || args->size() != 1 ||
        !(*args)[0].is_object() || !(*args)[0].contains("config") ||
        !(*args)[0]["config"].contains("keras_history"))
      return refuse(where + ": must be called with one tensor, not " +
                    (args ? shortText(*args) : "none"));
    call.inputs = {
        readTriple((*args)[0]["config"]["keras_history"], where)};
    if (kwargs) {
      Fields k(*kwargs, where + ": arguments of its call", error);
      k.expectUnset("training"); // false is the default, which fit overrides
      k.expectUnset("mask");
      k.finish();
    }
    calls.push_back(std::move(call));
  }
}

void GraphReader::connect() {
  for (bool progress = true; progress && error.empty();) {
    progress = false;
    for (const Call &call : calls) {
      if (!error.empty() || nodes.count(call.name))
        continue;
      auto input = nodes.find(call.inputs[0]);
      if (input == nodes.end())
        continue;
      addNode(call.layer, {input->second}, call.name);
      progress = true;
    }
  }
  for (const Call &call : calls)
    if (!nodes.count(call.name))
      refuse("layer " + inQuotes(call.name.first) + ": its input " +
             inQuotes(call.inputs[0].first) + " is never computed");
}

std::vector<unsigned> GraphReader::resolve(const std::vector<Tensor> &tensors,
                                           const std::string &where) {
  std::vector<unsigned> out;
  for (const Tensor &tensor : tensors) {
    auto node = nodes.find(tensor);
    if (node == nodes.end())
      refuse(where + ": " + inQuotes(tensor.first) + " is no layer of the model");
    else
      out.push_back(node->second);
  }
  return out;
}

void GraphReader::readFunctional(const Json &config) {
  Fields f(config, "Functional", error);
  model.name = f.text("name", "functional");
  readPolicy(f);
  if (!f.boolean("trainable", true))
    f.refuse("\"trainable\" = false is not supported; freeze its layers instead");
  const Json *layers = f.find("layers");
  std::vector<Tensor> inputs = readTensors(f.find("input_layers"), "input_layers");
  std::vector<Tensor> outputs =
      readTensors(f.find("output_layers"), "output_layers");
  f.finish();
  if (!layers || !layers->is_array())
    f.refuse("\"layers\" must be a list of layers");
  for (unsigned i = 0; error.empty() && i < layers->size(); ++i) {
    LayerDraft draft = readLayer((*layers)[i], error);
    if (!error.empty())
      return;
    std::vector<int64_t> shape = draft.inputShape;
    unsigned index = addLayer(std::move(draft));
    if (model.layers[index].kind == LayerKind::Input)
      addInput(index, shape, {model.layers[index].name, 0});
    else
      readCalls((*layers)[i], index);
  }
  if (error.empty())
    connect();
  if (error.empty()) {
    model.inputs = resolve(inputs, "input_layers");
    model.outputs = resolve(outputs, "output_layers");
  }
  finishVariables();
}

} // namespace

void weft::keras::readGraph(const Json &json, const ModelOptions &options,
                            Model &model, std::string &error) {
  GraphReader reader(options, model, error);
  if (model.className == "Sequential")
    reader.readSequential(json);
  else
    reader.readFunctional(json);
}

std::vector<int64_t> weft::keras::resultShape(const Layer &layer,
                                              const std::vector<int64_t> &input,
                                              std::string &error) {
  auto count = [](const std::vector<int64_t> &shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<>());
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
      size == -1 ? void(++unknown) : void(known *= size);
    if (unknown > 1 || known < 1 || (unknown ? count(input) % known : count(input) != known)) {
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
