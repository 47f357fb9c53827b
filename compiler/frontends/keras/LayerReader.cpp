//===- LayerReader.cpp - the config of each layer -------------------------===//

#include "weft/compiler/frontends/keras/ModelReader.h"

#include <algorithm>

using namespace weft::keras;

namespace {

constexpr const char *kActivations[] = {
    "elu",    "exponential", "gelu",     "hard_sigmoid", "leaky_relu",
    "linear", "relu",        "relu6",    "selu",         "sigmoid",
    "silu",   "softmax",     "softplus", "softsign",     "tanh"};

/// "GlorotUniform" of "glorot_uniform"; a name in camel case stays.
std::string camelCase(const std::string &name) {
  std::string out;
  bool upper = true;
  for (char c : name) {
    if (c == '_')
      upper = true;
    else {
      out += upper ? char(std::toupper(c)) : c;
      upper = false;
    }
  }
  return out;
}

void readDense(Fields &f, LayerDraft &out, std::string &error);

std::string readActivation(Fields &f, const char *key) {
  const Json *value = f.find(key);
  if (!value)
    return "linear";
  std::string name = value->is_string() ? value->get<std::string>() : "";
  // A function written as an object: {"class_name": "function", "config": NAME}.
  if (value->is_object() && value->value("class_name", Json()) == "function" &&
      value->contains("config") && (*value)["config"].is_string())
    name = (*value)["config"].get<std::string>();
  if (name == "swish")
    name = "silu";
  if (name.empty())
    f.refuse("activation " + shortText(*value) + " is not supported");
  else if (std::find(std::begin(kActivations), std::end(kActivations), name) ==
           std::end(kActivations))
    f.refuse("activation " + inQuotes(name) +
             " is not supported; supported activations are " +
             listed({std::begin(kActivations), std::end(kActivations)}));
  return name;
}

std::vector<double> readNumbers(Fields &f, const char *key, double otherwise) {
  const Json *value = f.find(key);
  if (!value)
    return {otherwise};
  std::vector<double> out;
  const Json list = value->is_array() ? *value : Json::array({*value});
  for (const Json &number : list) {
    if (!number.is_number()) {
      f.refuse(inQuotes(key) + " must be a number or a list of numbers, not " +
               shortText(*value));
      return {otherwise};
    }
    out.push_back(number.get<double>());
  }
  return out;
}

void readInput(Fields &f, LayerDraft &out) {
  std::vector<int64_t> shape = f.shape("batch_shape");
  if (shape.empty())
    shape = f.shape("batch_input_shape");
  if (shape.empty())
    f.refuse("an input needs a \"batch_shape\"");
  else
    out.inputShape.assign(shape.begin() + 1, shape.end());
  for (int64_t size : out.inputShape)
    if (size < -1 || size == 0)
      f.refuse("a dimension of size " + std::to_string(size) +
               " is not supported; sizes are positive or null");
  f.expectUnset("sparse");
  f.expectUnset("ragged");
  f.expectUnset("optional");
}

void readDropout(Fields &f, LayerDraft &out) {
  out.layer.rate = f.number("rate", 0.5);
  if (out.layer.rate < 0 || out.layer.rate > 1)
    f.refuse("\"rate\" is " + std::to_string(out.layer.rate) +
             "; it must lie between 0 and 1");
  f.expectUnset("noise_shape");
  out.drawsState = out.layer.rate > 0;
  if (f.find("seed"))
    out.stateSeed = f.integer("seed", 0);
}

void readRelu(Fields &f, LayerDraft &out) {
  out.layer.negativeSlope = f.number("negative_slope", 0);
  out.layer.threshold = f.number("threshold", 0);
  if (f.find("max_value"))
    out.layer.maxValue = f.number("max_value", 0);
}

void readSoftmax(Fields &f, LayerDraft &out) {
  const Json *axis = f.find("axis");
  if (axis && axis->is_array())
    out.layer.axes = f.shape("axis");
  else
    out.layer.axes = {f.integer("axis", -1)};
}

void readKind(Fields &f, LayerDraft &out, std::string &error) {
  switch (out.layer.kind) {
  case LayerKind::Nested:
    return; // read with the graphs
  case LayerKind::Input:
    return readInput(f, out);
  case LayerKind::Dense:
    return readDense(f, out, error);
  case LayerKind::Dropout:
    return readDropout(f, out);
  case LayerKind::ReLU:
    return readRelu(f, out);
  case LayerKind::Softmax:
    return readSoftmax(f, out);
  case LayerKind::Flatten:
    return f.expectUnset("data_format", "channels_last");
  case LayerKind::Activation:
    out.layer.activation = readActivation(f, "activation");
    return;
  case LayerKind::Rescaling:
    out.layer.scale = readNumbers(f, "scale", 1);
    out.layer.offset = readNumbers(f, "offset", 0);
    return;
  case LayerKind::Reshape:
    out.layer.targetShape = f.shape("target_shape");
    return;
  }
}

const std::map<std::string, LayerKind> &layerKinds() {
  static const std::map<std::string, LayerKind> kinds = {
      {"InputLayer", LayerKind::Input},
      {"Flatten", LayerKind::Flatten},
      {"Dense", LayerKind::Dense},
      {"Dropout", LayerKind::Dropout},
      {"Activation", LayerKind::Activation},
      {"ReLU", LayerKind::ReLU},
      {"Softmax", LayerKind::Softmax},
      {"Rescaling", LayerKind::Rescaling},
      {"Reshape", LayerKind::Reshape}};
  return kinds;
}

void readDense(Fields &f, LayerDraft &out, std::string &error) {
  out.layer.units = f.integer("units", 0);
  if (out.layer.units < 1)
    f.refuse("\"units\" is " + std::to_string(out.layer.units) +
             "; it must be positive");
  out.layer.activation = readActivation(f, "activation");
  out.useBias = f.boolean("use_bias", true);
  out.kernelInitializer =
      readInitializer(f.find("kernel_initializer"), "GlorotUniform",
                      f.place() + ": kernel_initializer", error);
  out.biasInitializer =
      readInitializer(f.find("bias_initializer"), "Zeros",
                      f.place() + ": bias_initializer", error);
  for (const char *key :
       {"kernel_regularizer", "bias_regularizer", "activity_regularizer",
        "kernel_constraint", "bias_constraint", "lora_rank", "lora_alpha",
        "quantization_config"})
    f.expectUnset(key);
}

/// Keys that each initializer may have, beside the seed.
const std::map<std::string, std::vector<const char *>> &initializerKeys() {
  static const std::map<std::string, std::vector<const char *>> keys = {
      {"GlorotUniform", {}},
      {"GlorotNormal", {}},
      {"HeUniform", {}},
      {"HeNormal", {}},
      {"LecunUniform", {}},
      {"LecunNormal", {}},
      {"VarianceScaling", {"scale", "mode", "distribution"}},
      {"RandomUniform", {"minval", "maxval"}},
      {"RandomNormal", {"mean", "stddev"}},
      {"TruncatedNormal", {"mean", "stddev"}},
      {"Zeros", {}},
      {"Ones", {}},
      {"Constant", {"value"}}};
  return keys;
}

} // namespace

bool weft::keras::drawsSeed(const Initializer &initializer) {
  const std::string &name = initializer.className;
  return name != "Zeros" && name != "Ones" && name != "Constant" &&
         !initializer.seed;
}

Initializer weft::keras::readInitializer(const Json *json,
                                         const std::string &otherwise,
                                         const std::string &where,
                                         std::string &error) {
  Initializer out;
  out.className = otherwise;
  if (!json)
    return out;
  Json config = Json::object();
  if (json->is_string()) {
    static const std::map<std::string, std::string> aliases = {
        {"Normal", "RandomNormal"},
        {"Uniform", "RandomUniform"},
        {"One", "Ones"},
        {"Zero", "Zeros"}};
    out.className = camelCase(json->get<std::string>());
    if (auto it = aliases.find(out.className); it != aliases.end())
      out.className = it->second;
  } else {
    Fields object(*json, where, error);
    out.className = object.text("class_name", "");
    object.accept({"module", "registered_name", "shared_object_id"});
    if (const Json *given = object.find("config"))
      config = *given;
    object.finish();
  }
  auto known = initializerKeys().find(out.className);
  Fields f(config, where, error);
  if (known == initializerKeys().end()) {
    std::vector<std::string> names;
    for (const auto &entry : initializerKeys())
      names.push_back(entry.first);
    f.refuse("initializer " + inQuotes(out.className) +
             " is not supported; supported initializers are " + listed(names));
    return out;
  }
  for (const char *key : known->second)
    f.accept({key});
  f.accept({"dtype"});
  if (f.find("seed"))
    out.seed = f.integer("seed", 0);
  f.expectUnset("input_axes");
  f.expectUnset("output_axes");
  f.finish();
  out.config = config.dump();
  return out;
}

void weft::keras::readPolicy(Fields &config) {
  const Json *dtype = config.find("dtype");
  if (!dtype)
    return;
  const Json *name = dtype;
  if (dtype->is_object() && dtype->contains("config") &&
      (*dtype)["config"].is_object() && (*dtype)["config"].contains("name"))
    name = &(*dtype)["config"]["name"];
  if (*name != "float32")
    config.refuse("type policy " + shortText(*name) +
                  " is not supported; build the model with \"float32\"");
}

LayerDraft weft::keras::readLayer(const Json &json, std::string &error) {
  LayerDraft out;
  Fields object(json, "layers", error);
  std::string className = object.text("class_name", "");
  const Json *config = object.find("config");
  object.accept({"module", "registered_name", "build_config", "name",
                 "inbound_nodes", "shared_object_id"});
  if (!config || object.failed()) {
    object.refuse("a layer needs \"class_name\" and \"config\"");
    return out;
  }
  std::string name =
      config->is_object() ? config->value("name", className) : className;
  Fields f(*config, "layer " + inQuotes(name), error);
  auto kind = layerKinds().find(className);
  if (kind == layerKinds().end()) {
    std::vector<std::string> names;
    for (const auto &entry : layerKinds())
      names.push_back(entry.first);
    f.refuse("layer class " + inQuotes(className) +
             " is not supported; supported layers are " + listed(names));
    return out;
  }
  out.layer.kind = kind->second;
  out.layer.className = className;
  out.layer.name = f.text("name", className);
  out.layer.trainable = f.boolean("trainable", true);
  out.builtAlone = object.find("build_config") != nullptr;
  readPolicy(f);
  readKind(f, out, error);
  f.finish();
  object.finish();
  return out;
}
