//===- GraphReader.cpp - layers and their calls, as written ---------------===//

#include "weft/compiler/frontends/keras/model/ArgumentReader.h"
#include "weft/compiler/frontends/keras/model/ModelReader.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace weft::keras;

namespace {

class GraphReader {
public:
  GraphReader(const ModelOptions &options [[clang::lifetimebound]],
              Model &model [[clang::lifetimebound]],
              Graphs &graphs [[clang::lifetimebound]],
              Status &status [[clang::lifetimebound]])
      : options(options), model(model), graphs(graphs), status(status) {}
  void readModel(const Json &config);

private:
  /// The graph to which layers are added, the layer of which it is the graph
  /// (-1 for the whole model), and the prefix of the paths of layers that are
  /// not built alone.
  struct Place {
    Graph &graph;
    int self = -1;
    std::string prefix = {};
  };
  void readSequential(const Json &config, Place place);
  void readFunctional(const Json &config, Place place);
  unsigned readMember(const Json &json, const Place &place);
  unsigned readNested(const Json &json, const Place &place);
  unsigned addLayer(ModelLayer layer, bool isBuiltAlone, const Place &place);
  void addInput(unsigned layer, std::vector<int64_t> shape, const Place &place);
  void takeSizesOfData(const std::string &input, std::vector<int64_t> &shape);
  const std::map<std::string, std::vector<int64_t>> &shapesOfData();
  void startOf(const std::vector<int64_t> &shape, const Place &place);
  void readCalls(const Json &json, unsigned layer, Graph &graph);
  void countFromCalls(std::vector<GraphTensor> &tensors, const Place &place);
  void distinguishPaths();
  void refuse(const std::string &what) {
    if (status)
      status = Error{what};
  }

  /// Whether there is an error. The error is moved to the list of errors, so
  /// that all errors of a model are reported.
  bool isRefused() {
    bool out = !status;
    if (out)
      addError(refusals, status.error().message);
    status = {};
    return out;
  }

  const ModelOptions &options;
  Model &model;
  Graphs &graphs;
  Status &status;
  std::optional<std::map<std::string, std::vector<int64_t>>> ofData;
  Status refusals;
  unsigned depth = 0;
};

bool isModel(const std::string &className) {
  return className == "Sequential" || className == "Functional";
}

unsigned GraphReader::addLayer(ModelLayer layer, bool isBuiltAlone,
                               const Place &place) {
  layer.parent = place.self;
  bool isPrefixed = !place.prefix.empty() && !isBuiltAlone;
  layer.path = isPrefixed ? place.prefix + "/" + layer.name : layer.name;
  // The name of a nested model's input layer may repeat: the layer only names
  // an input of the model's call.
  bool isNamed = !layer.isInput() || place.self < 0;
  for (const ModelLayer &other : model.layers)
    if (isNamed && other.name == layer.name && other.parent == layer.parent &&
        (!other.isInput() || other.parent < 0))
      refuse("layer " + inQuotes(layer.name) +
             " is written twice; layers of a model need different names");
  model.layers.push_back(std::move(layer));
  graphs.isBuiltAlone.push_back(isBuiltAlone);
  return model.layers.size() - 1;
}

/// The entry of a layer that is not a model.
ModelLayer entryOf(const std::shared_ptr<Layer> &layer) {
  ModelLayer out;
  out.className = layer->className;
  out.name = layer->name;
  out.layer = layer;
  out.input = std::dynamic_pointer_cast<const InputLayer>(layer);
  return out;
}

/// The sample shapes of the data; the first call opens its files.
const std::map<std::string, std::vector<int64_t>> &GraphReader::shapesOfData() {
  if (!ofData)
    ofData.emplace(options.shapesOfData ? options.shapesOfData()
                                        : decltype(options.inputShapes)());
  return *ofData;
}

/// Replaces unknown sizes by those of the data, where they are known.
void GraphReader::takeSizesOfData(const std::string &input,
                                  std::vector<int64_t> &shape) {
  if (!llvm::is_contained(shape, -1))
    return;
  const auto &shapes = shapesOfData();
  auto found = shapes.find(shapes.count(input) ? input : "");
  if (found == shapes.end() || found->second.size() != shape.size())
    return;
  for (auto [size, ofData] : llvm::zip_equal(shape, found->second))
    size = size == -1 && ofData > 0 ? ofData : size;
}

void GraphReader::addInput(unsigned layer, std::vector<int64_t> shape,
                           const Place &place) {
  const std::string &layerName = model.layers[layer].name;
  auto given = options.inputShapes.find(layerName);
  if (given == options.inputShapes.end())
    given = options.inputShapes.find("");
  if (place.self < 0 && given != options.inputShapes.end()) {
    bool fits = given->second.size() == shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i)
      fits = shape[i] == -1 || shape[i] == given->second[i];
    if (!fits)
      return refuse("layer " + inQuotes(layerName) + ": shape " +
                    shapeText(given->second) + " does not fit the model's " +
                    shapeText(shape));
    shape = given->second;
  }
  if (place.self < 0)
    takeSizesOfData(layerName, shape);
  if (place.self < 0 && options.openSize && llvm::is_contained(shape, -1)) {
    model.openInputs.push_back(layerName);
    for (int64_t &size : shape)
      size = size == -1 ? *options.openSize : size;
  }
  for (int64_t size : shape)
    if (place.self < 0 && size < 1)
      return refuse("layer " + inQuotes(layerName) + ": shape " +
                    shapeText(shape) +
                    " has an unknown dimension; give it with --shape " +
                    layerName + "=...");
  place.graph.inputs.push_back({layer, std::move(shape), {layerName, 0, 0}});
}

/// Reads one entry of "layers", which may be a nested model. As in Keras, each
/// layer's own "trainable" decides; in a frozen model all layers have it, too.
unsigned GraphReader::readMember(const Json &json, const Place &place) {
  if (json.is_object() && json.contains("class_name") &&
      json["class_name"].is_string() && isModel(json["class_name"]))
    return readNested(json, place);
  LayerDraft draft = readLayer(json, status);
  if (!status)
    return 0;
  return addLayer(entryOf(draft.layer), draft.isBuiltAlone, place);
}

unsigned GraphReader::readNested(const Json &json, const Place &place) {
  Fields object(json, "layers", status);
  ModelLayer entry;
  entry.className = object.text("class_name", "");
  const Json *config = object.find("config");
  object.accept({"module", "registered_name", "build_config", "name",
                 "inbound_nodes", "shared_object_id", "compile_config"});
  object.finish();
  if (!config || !config->is_object())
    object.refuse("a layer needs \"class_name\" and \"config\"");
  if (depth >= 32)
    refuse(
        "models are nested more than 32 deep; call them one after the other");
  if (!status)
    return 0;
  entry.name = config->value("name", entry.className);
  unsigned index = addLayer(entry, true, place);
  Graph graph;
  Place inside{graph, int(index), ""};
  ++depth;
  if (entry.className == "Sequential") {
    // A model without an input shape is built by the first call of its parent.
    bool waits = !config->contains("build_input_shape");
    inside.prefix = waits && !place.prefix.empty()
                        ? place.prefix + "/" + entry.name
                        : entry.name;
    readSequential(*config, inside);
  } else {
    readFunctional(*config, inside);
  }
  --depth;
  graphs.nested.emplace(index, std::move(graph));
  return index;
}

/// Adds an input layer to a Sequential that begins with another layer. A nested
/// one takes the tensor of its call instead.
void GraphReader::startOf(const std::vector<int64_t> &shape,
                          const Place &place) {
  if (place.self >= 0) {
    place.graph.start = {{"", 0, 0}};
    return;
  }
  auto given = options.inputShapes.find("");
  std::vector<int64_t> inputShape;
  if (!shape.empty())
    inputShape.assign(shape.begin() + 1, shape.end());
  else if (given != options.inputShapes.end())
    inputShape = given->second;
  else if (auto found = shapesOfData().find(""); found != shapesOfData().end())
    inputShape = found->second;
  else
    return refuse("the model has no input shape; give it with --shape");
  auto input = std::make_shared<InputLayer>();
  input->className = "InputLayer";
  input->name = "input_layer";
  addInput(addLayer(entryOf(input), false, place), inputShape, place);
}

void GraphReader::readSequential(const Json &config, Place place) {
  Fields f(config, "Sequential", status);
  std::string name = f.text("name", "sequential");
  if (place.self < 0)
    model.name = place.prefix = name;
  readPolicy(f);
  f.accept({"trainable"}); // Keras reads "trainable" from each layer instead
  std::vector<int64_t> shape = f.shape("build_input_shape");
  const Json *layers = f.find("layers");
  f.finish();
  if (!layers || !layers->is_array() || layers->empty())
    return f.refuse("\"layers\" must be a list of layers");
  Graph &graph = place.graph;
  for (unsigned i = 0; status && i < layers->size(); ++i) {
    const Json &json = (*layers)[i];
    bool isInput =
        json.is_object() && json.value("class_name", Json()) == "InputLayer";
    if (i == 0 && !isInput)
      startOf(shape, place);
    unsigned index = status ? readMember(json, place) : 0;
    if (isRefused())
      continue;
    if (isInput && i > 0)
      return refuse("layer " + inQuotes(model.layers[index].name) +
                    ": an input comes first");
    if (isInput) {
      addInput(index, model.layers[index].input->sampleShape(), place);
      continue;
    }
    GraphTensor from = !graph.calls.empty()    ? graph.calls.back().name
                       : !graph.inputs.empty() ? graph.inputs[0].name
                                               : GraphTensor{"", 0, 0};
    GraphCall call{index, {model.layers[index].name, 0, 0}, {from}, {}};
    call.arguments.positional.resize(1);
    call.arguments.positional[0].kind = Argument::Kind::Tensor;
    graph.calls.push_back(std::move(call));
  }
  if (isRefused() || !refusals)
    return;
  if (!graph.inputs.empty())
    graph.start = {graph.inputs[0].name};
  graph.outputs = {graph.calls.empty() ? graph.start[0]
                                       : graph.calls.back().name};
}

void GraphReader::readCalls(const Json &json, unsigned layer, Graph &graph) {
  const std::string name = model.layers[layer].name;
  const std::string where = "layer " + inQuotes(name);
  if (!json.contains("inbound_nodes") || !json["inbound_nodes"].is_array())
    return refuse(where + ": has no list \"inbound_nodes\"");
  int64_t index = 0;
  for (const Json &node : json["inbound_nodes"]) {
    GraphCall call{layer, {name, index++, 0}, {}, {}};
    readArguments(node, model.layers[layer].layer.get(), where, call, status);
    if (!status)
      return;
    graph.calls.push_back(std::move(call));
  }
}

/// Adjusts call numbers: in input_layers and output_layers, call 0 of a
/// Functional is its own construction.
void GraphReader::countFromCalls(std::vector<GraphTensor> &tensors,
                                 const Place &place) {
  for (GraphTensor &tensor : tensors)
    for (unsigned i = 0; i < model.layers.size(); ++i)
      if (tensor.call > 0 && model.layers[i].parent == place.self &&
          model.layers[i].name == tensor.layer &&
          model.layers[i].className == "Functional")
        --tensor.call;
}

void GraphReader::readFunctional(const Json &config, Place place) {
  Fields f(config, "Functional", status);
  std::string name = f.text("name", "functional");
  if (place.self < 0)
    model.name = name;
  readPolicy(f);
  bool isTrained = f.boolean("trainable", true);
  if (place.self < 0)
    model.isFrozen = !isTrained;
  const Json *layers = f.find("layers");
  Graph &graph = place.graph;
  graph.start = readTensors(f.find("input_layers"), "input_layers",
                            graph.startKeys, status);
  graph.outputs = readTensors(f.find("output_layers"), "output_layers",
                              graph.outputKeys, status);
  f.finish();
  if (!layers || !layers->is_array())
    return f.refuse("\"layers\" must be a list of layers");
  for (unsigned i = 0; status && i < layers->size(); ++i) {
    unsigned index = readMember((*layers)[i], place);
    if (isRefused())
      continue;
    if (model.layers[index].isInput())
      addInput(index, model.layers[index].input->sampleShape(), place);
    else
      readCalls((*layers)[i], index, place.graph);
    isRefused();
  }
  countFromCalls(place.graph.outputs, place);
}

/// Prepends the nested model's path to the path of a layer that another layer
/// has, too: base/dense beside a dense of the outer model. Keras gives both the
/// same path.
void GraphReader::distinguishPaths() {
  std::map<std::string, unsigned> count;
  for (const ModelLayer &layer : model.layers)
    if (!layer.isInput())
      ++count[layer.path];
  for (ModelLayer &layer : model.layers)
    if (!layer.isInput() && layer.parent >= 0 && count[layer.path] > 1)
      layer.path = model.layers[layer.parent].path + "/" + layer.path;
}

void GraphReader::readModel(const Json &config) {
  if (model.className == "Sequential")
    readSequential(config, {graphs.model});
  else
    readFunctional(config, {graphs.model});
  if (!isRefused() && refusals)
    distinguishPaths();
  isRefused();
  status = refusals;
}

} // namespace

void weft::keras::readGraphs(const Json &json, const ModelOptions &options,
                             Model &model, Graphs &graphs, Status &status) {
  GraphReader(options, model, graphs, status).readModel(json);
}
