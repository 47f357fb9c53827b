//===- LegacyLayers.cpp - layers of Keras 2 as layers of Keras 3 ----------===//

#include "weft/base/config/OptionWriter.h"
#include "weft/compiler/frontends/keras/layers/Layer.h"
#include "weft/compiler/frontends/keras/model/LegacyConfig.h"
#include "weft/data/initializers/Initializer.h"

#include <algorithm>

using namespace weft::keras;

void LegacyNotes::warn(const std::string &text) {
  if (std::find(warnings.begin(), warnings.end(), text) == warnings.end())
    warnings.push_back(text);
}

Json weft::keras::inModule(const char *module, const std::string &className,
                           Json config) {
  return {{"module", module},
          {"class_name", className},
          {"config", std::move(config)},
          {"registered_name", nullptr}};
}

void weft::keras::dropUnknown(Json &config, const TableRow &row,
                              const Json &dropped) {
  std::set<std::string> known = {"name", "trainable", "dtype"};
  for (const OptionRow &option : listOptions(*AnyTable::make(row)))
    known.insert(option.name);
  std::vector<std::string> removed;
  for (const auto &[key, value] : config.items()) {
    bool isDropped = dropped.contains(key) &&
                     (dropped.at(key).is_null() || dropped.at(key) == value);
    if (!known.count(key) && (value.is_null() || isDropped))
      removed.push_back(key);
  }
  for (const std::string &key : removed)
    config.erase(key);
}

namespace {

/// Options of Keras 2's layers that Keras 3 lacks, with the value that changes
/// nothing; null: each value. kernel_* of layers that have none were never
/// used; the shapes of a MultiHeadAttention are those of its call.
const Json kOfKeras2 = {{"batch_input_shape", nullptr},
                        {"input_shape", nullptr},
                        {"input_dtype", nullptr},
                        {"input_length", nullptr},
                        {"implementation", nullptr},
                        {"time_major", false},
                        {"groups", 1},
                        {"kernel_initializer", nullptr},
                        {"kernel_regularizer", nullptr},
                        {"kernel_constraint", nullptr},
                        {"query_shape", nullptr},
                        {"key_shape", nullptr},
                        {"value_shape", nullptr},
                        {"causal", false},
                        {"fused", nullptr},
                        {"dynamic", false}};

bool isText(const Json &config, const char *key, const char *text) {
  return config.contains(key) && config[key] == text;
}

/// Objects of a config, such as initializers: Keras 2.0 to 2.3 wrote their
/// type, which is that of the weight.
void fixObjects(Json &config) {
  for (Json &value : config) {
    if (!value.is_object() || !value.contains("class_name") ||
        !value["class_name"].is_string() || !value.contains("config") ||
        !value["config"].is_object())
      continue;
    const TableRow *row = initializerTable().find(
        value["class_name"].get_ref<const std::string &>());
    if (row)
      dropUnknown(value["config"], *row, {{"dtype", nullptr}});
    if (row && value["config"].contains("dtype"))
      value["config"].erase("dtype");
  }
}

/// Bidirectional makes its backward layer from its layer, if it has none.
void completeBidirectional(Json &config) {
  if (!config.contains("layer") || !config["layer"].is_object())
    return;
  auto named = [](Json layer, const std::string &prefix) {
    std::string name = layer["config"].value("name", "");
    if (name.starts_with(prefix))
      name.erase(0, prefix.size());
    layer["config"]["name"] = prefix + name;
    return layer;
  };
  const Json layer = config["layer"];
  if (!config.contains("backward_layer") ||
      config["backward_layer"].is_null()) {
    Json backward = named(layer, "backward_");
    backward["config"]["go_backwards"] = true;
    config["backward_layer"] = std::move(backward);
  }
  config["layer"] = named(layer, "forward_");
}

/// Layers that are options of a layer.
void fixInner(Json &config, LegacyNotes &notes) {
  for (const char *key : {"layer", "backward_layer", "cell"})
    if (config.contains(key) && config[key].is_object())
      config[key] = modernLayer(config[key], notes);
  if (config.contains("cells") && config["cells"].is_array())
    for (Json &cell : config["cells"])
      cell = modernLayer(cell, notes);
}

/// The type policy: Keras 2 has a class Policy.
void fixPolicy(Json &config) {
  if (!config.contains("dtype") || !config["dtype"].is_object())
    return;
  const Json &dtype = config["dtype"];
  if (dtype.value("class_name", Json()) != "DTypePolicy" &&
      dtype.contains("config") && dtype["config"].is_object() &&
      dtype["config"].contains("name"))
    config["dtype"] = Json(dtype["config"]["name"]);
}

void fixInput(Json &config) {
  if (config.contains("batch_input_shape")) {
    config["batch_shape"] = config["batch_input_shape"];
    config.erase("batch_input_shape");
  }
}

/// The functions whose formula Keras 3 has changed.
void noteFormulas(const Json &config, LegacyNotes &notes) {
  for (const char *key : {"activation", "recurrent_activation"})
    if (notes.isKeras2 && isText(config, key, "hard_sigmoid"))
      notes.warn("layer " + inQuotes(config.value("name", "")) +
                 ": hard_sigmoid was 0.2 x + 0.5 in Keras 2; x / 6 + 0.5 of "
                 "Keras 3 is computed, so train the model on");
}

void fixConfig(const std::string &className, Json &config, LegacyNotes &notes) {
  if (className == "InputLayer")
    fixInput(config);
  if (config.contains("axis") && config["axis"].is_array() &&
      config["axis"].size() == 1)
    config["axis"] = Json(config["axis"][0]);
  if (className == "LeakyReLU" && config.contains("alpha")) {
    config["negative_slope"] = config["alpha"];
    config.erase("alpha");
  }
  fixPolicy(config);
  fixObjects(config);
  fixInner(config, notes);
  if (className == "Bidirectional" && notes.isKeras2)
    completeBidirectional(config);
  noteFormulas(config, notes);
  const TableRow *row = layerTable().find(className);
  if (row && row->name == className)
    dropUnknown(config, *row, kOfKeras2);
}

/// Whether the entry is a call of keras.ops: its config has no option that all
/// layers have.
bool isFunction(const Json &entry) {
  const Json &config = entry["config"];
  return entry.contains("inbound_nodes") && !entry["inbound_nodes"].empty() &&
         config.is_object() && !config.contains("trainable") &&
         !config.contains("layers");
}

} // namespace

Json weft::keras::modernLayer(const Json &entry, LegacyNotes &notes) {
  if (!entry.is_object() || !entry.contains("class_name") ||
      !entry["class_name"].is_string() || !entry.contains("config"))
    return entry;
  std::string className = entry["class_name"];
  Json config = entry["config"];
  Json out;
  if (!notes.isKeras2 && isFunction(entry) && notes.refusal.empty())
    notes.refusal = "layer " + inQuotes(config.value("name", className)) +
                    ": is a function of keras.ops, of which .h5 files hold no "
                    "module, so that Keras cannot load them; save the model "
                    "as .keras";
  if (className == "Model")
    className = "Functional";
  if (className == "Functional") {
    out = inModule("keras.src.models.functional", className,
                   modernGraph(className, config, notes));
    out["registered_name"] = className;
  } else if (className == "Sequential") {
    out = inModule("keras", className, modernGraph(className, config, notes));
  } else {
    if (config.is_object())
      fixConfig(className, config, notes);
    out = inModule("keras.layers", className, std::move(config));
  }
  for (const char *key : {"build_config", "name"})
    if (entry.contains(key))
      out[key] = entry[key];
  return out;
}
