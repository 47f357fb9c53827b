//===- LegacyConfig.cpp - models of Keras 2 and of .h5 files --------------===//

#include "weft/compiler/frontends/keras/model/LegacyConfig.h"
#include "weft/compiler/frontends/keras/layers/Layer.h"

#include <algorithm>
#include <map>

using namespace weft::keras;

namespace {

bool isHistory(const Json &json) {
  return json.is_array() && (json.size() == 3 || json.size() == 4) &&
         json[0].is_string() && json[1].is_number_integer() &&
         json[2].is_number_integer();
}

/// The class of an entry: Functional also for the Model of Keras before 2.3.
std::string classOf(const Json &entry) {
  std::string name = entry.is_object() && entry.contains("class_name") &&
                             entry["class_name"].is_string()
                         ? entry["class_name"].get<std::string>()
                         : "";
  return name == "Model" ? "Functional" : name;
}

std::string nameOf(const Json &entry) {
  Json name = entry.is_object() ? entry.value("name", Json()) : Json();
  return name.is_string() ? name.get<std::string>() : "";
}

/// Whether Keras 2 counts the calls of the layer from 1: those of a model that
/// begins with an input, as call 0 is its own construction.
bool countsConstruction(const Json &entry) {
  std::string name = classOf(entry);
  if ((name != "Functional" && name != "Sequential") ||
      !entry.contains("config") || !entry["config"].is_object())
    return false;
  const Json &config = entry["config"];
  return config.contains("layers") && config["layers"].is_array() &&
         !config["layers"].empty() &&
         classOf(config["layers"][0]) == "InputLayer";
}

/// Converts the calls of one Functional model.
class Calls {
public:
  Calls(const Json &layers, const LegacyNotes &notes) {
    for (const Json &entry : layers)
      if (notes.isKeras2 && countsConstruction(entry))
        nested[nameOf(entry)] = classOf(entry);
  }
  Json nodesOf(const Json &entry) const;
  /// An entry of output_layers, where call 0 of a Functional is its
  /// construction in Keras 3, too.
  Json output(const Json &json) const {
    if (!isHistory(json)) {
      Json out = json;
      for (Json &part : out)
        if (part.is_structured())
          part = output(part);
      return out;
    }
    auto found = nested.find(json[0].get<std::string>());
    return found != nested.end() && found->second == "Sequential"
               ? fromZero(json)
               : json;
  }

private:
  Json fromZero(Json history) const {
    if (nested.count(history[0].get<std::string>()) &&
        history[1].get<int64_t>() > 0)
      history[1] = history[1].get<int64_t>() - 1;
    return history;
  }
  Json tensor(const Json &history) const {
    Json from = fromZero(Json::array({history[0], history[1], history[2]}));
    return {{"class_name", "__keras_tensor__"},
            {"config",
             {{"shape", Json::array({nullptr})},
              {"dtype", "float32"},
              {"keras_history", std::move(from)}}}};
  }
  /// A value among a call's keywords, in which [layer, call, result] is a
  /// tensor.
  Json value(const Json &json) const {
    if (isHistory(json) && json.size() == 3)
      return tensor(json);
    Json out = json;
    if (json.is_array())
      for (Json &part : out)
        part = value(part);
    return out;
  }
  Json node(const Json &json, const Layer *layer) const;
  std::map<std::string, std::string> nested; ///< classes by names
};

/// One call: [[x, 0, 0, {}], [y, 0, 0, {}]], the flat [x, 0, 0, {}], or a dict
/// of tensors.
Json Calls::node(const Json &json, const Layer *layer) const {
  Json kwargs = Json::object();
  auto take = [&](const Json &history) {
    if (history.size() == 4 && history[3].is_object())
      for (const auto &[key, given] : history[3].items())
        kwargs[key] = value(given);
    return tensor(history);
  };
  Json first;
  if (json.is_object()) {
    first = Json::object();
    for (const auto &[key, part] : json.items())
      first[key] = isHistory(part) ? take(part) : part;
  } else if (isHistory(json)) {
    first = take(json);
  } else if (json.is_array()) {
    first = Json::array();
    for (const Json &part : json)
      first.push_back(isHistory(part) ? take(part) : part);
    if (first.size() == 1)
      first = Json(first[0]);
  } else {
    return json;
  }
  // Recurrent layers of Keras 2 take their initial states in the first list.
  std::vector<const char *> names =
      layer ? layer->facts().tensors : std::vector<const char *>();
  bool hasStates = std::any_of(names.begin(), names.end(), [](auto name) {
    return std::string_view(name) == "initial_state";
  });
  if (hasStates && first.is_array()) {
    Json states(first.begin() + 1, first.end());
    kwargs["initial_state"] = std::move(states);
    first = Json(first[0]);
  }
  return {{"args", Json::array({std::move(first)})},
          {"kwargs", std::move(kwargs)}};
}

Json Calls::nodesOf(const Json &entry) const {
  const Json &nodes = entry["inbound_nodes"];
  Json out = Json::array();
  const TableRow *row = layerTable().find(classOf(entry));
  std::shared_ptr<Configured> made = row ? AnyTable::make(*row) : nullptr;
  for (const Json &one : nodes) {
    bool isModern = one.is_object() && one.contains("args");
    out.push_back(
        isModern ? one : node(one, dynamic_cast<const Layer *>(made.get())));
  }
  return out;
}

/// The input that a Sequential of Keras 2 names in its first layer only.
void addInput(Json &layers) {
  const Json &first = layers[0];
  if (classOf(first) == "InputLayer" || !first.contains("config") ||
      !first["config"].is_object() ||
      !first["config"].contains("batch_input_shape"))
    return;
  const Json &config = first["config"];
  Json dtype = config.value("dtype", Json("float32"));
  bool isEmbedding = classOf(first) == "Embedding";
  if (isEmbedding || !dtype.is_string())
    dtype = "float32";
  Json input = {{"class_name", "InputLayer"},
                {"config",
                 {{"batch_shape", config["batch_input_shape"]},
                  {"dtype", std::move(dtype)},
                  {"sparse", false},
                  {"name", config.value("name", "first") + "_input"}}}};
  layers.insert(layers.begin(), input);
}

std::vector<std::string> outputNames(const Json &config) {
  std::vector<std::string> out;
  if (config.is_object() && config.contains("output_layers"))
    for (const Json &one : config["output_layers"])
      if (isHistory(one))
        out.push_back(one[0].get<std::string>());
  return out;
}

} // namespace

bool weft::keras::isLegacyJson(const Json &json) {
  return json.is_object() && json.contains("keras_version") &&
         !json.contains("module");
}

Json weft::keras::modernGraph(const std::string &className, const Json &config,
                              LegacyNotes &notes) {
  Json out = config;
  // Keras before 2.3 wrote a Sequential as the list of its layers.
  if (config.is_array() && className == "Sequential")
    out = {{"name", "sequential"}, {"layers", config}};
  if (!out.is_object() || !out.contains("layers") || !out["layers"].is_array())
    return out;
  Json written = out["layers"];
  if (className == "Sequential" && !written.empty() && written[0].is_object())
    addInput(written);
  Calls calls(written, notes);
  Json layers = Json::array();
  for (const Json &entry : written) {
    Json layer = modernLayer(entry, notes);
    if (entry.is_object() && entry.contains("inbound_nodes") &&
        entry["inbound_nodes"].is_array())
      layer["inbound_nodes"] = calls.nodesOf(entry);
    layers.push_back(std::move(layer));
  }
  out["layers"] = std::move(layers);
  if (out.contains("output_layers"))
    out["output_layers"] = calls.output(out["output_layers"]);
  return out;
}

Json weft::keras::modernModel(const Json &json, const Json &training,
                              LegacyNotes &notes) {
  Json out = modernLayer(json, notes);
  if (training.is_object() && out.contains("config"))
    out["compile_config"] =
        modernCompile(training, outputNames(out["config"]), notes);
  return out;
}
