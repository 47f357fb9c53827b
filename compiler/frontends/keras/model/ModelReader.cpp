//===- ModelReader.cpp - a model.json as a whole --------------------------===//

#include "weft/compiler/frontends/keras/model/ModelReader.h"
#include "weft/base/MersenneTwister.h"
#include "weft/compiler/frontends/keras/model/LegacyConfig.h"

using namespace weft;
using namespace weft::keras;

namespace {

/// Whether the model's policy is mixed_float16. A Functional model's config
/// does not contain it, but a layer with that policy implies it.
bool isMixedFloat16(const Json &config, const Model &model) {
  auto isMixed = [](const Policy &policy) {
    return policy.variable == "float32" && policy.compute == "float16";
  };
  if (config.contains("dtype")) {
    Status unread;
    Fields fields(config, "", unread);
    return isMixed(readPolicy(fields));
  }
  for (const ModelLayer &layer : model.layers)
    if (layer.layer && layer.layer->policy && isMixed(*layer.layer->policy))
      return true;
  return false;
}

/// Refuses a frozen model that has trainable variables: Keras does not train
/// them, but updates the statistics of their layers.
void checkFrozen(const Model &model, Status &status) {
  for (const Variable &variable : model.variables)
    if (model.isFrozen && variable.trainable) {
      status = Error{
          "the model has \"trainable\" = false, and its variable " +
          inQuotes(variable.path) +
          " is trainable; freeze all layers, or make the model trainable"};
      return;
    }
}

void read(const Json &json, const ModelOptions &options, Model &model,
          Status &status) {
  Fields f(json, "", status);
  if (!status)
    return;
  model.className = f.text("class_name", "");
  const Json *config = f.find("config");
  const Json *compile = f.find("compile_config");
  f.accept({"module", "registered_name", "build_config", "shared_object_id"});
  if (model.className != "Sequential" && model.className != "Functional")
    f.refuse("model class " + inQuotes(model.className) +
             " is not supported; supported models are Functional, Sequential");
  else if (!config)
    f.refuse("a model needs a \"config\"");
  f.finish();
  Graphs graphs;
  if (status)
    readGraphs(*config, options, model, graphs, status);
  if (status)
    runGraphs(graphs, model, status);
  if (status)
    checkFrozen(model, status);
  if (!status)
    return;
  model.isMixedFloat16 = isMixedFloat16(*config, model);
  // An error in the file's compile_config is reported only if a step needs it,
  // or if options complete the config.
  bool isAsked = options.optimizer || options.loss || options.metrics ||
                 options.learningRate;
  Status compiled;
  readCompileConfig(compile, options, model, compiled);
  if (isAsked)
    status = compiled;
  else if (!compiled)
    model.compileRefusal = withFix(compiled.error().message,
                                   "predict only, or compile the model again")
                               .text();
}

/// The reason why a model of TensorFlow.js is refused; empty for other files.
std::string refusedOfJavaScript(const Json &json) {
  if (!json.is_object() ||
      !(json.contains("modelTopology") || json.contains("weightsManifest")))
    return "";
  return json.value("format", Json()) == "graph-model"
             ? "is a graph of TensorFlow.js, which has no layers; give the "
               "Keras model from which it was made"
             : "is a model of TensorFlow.js; convert it with "
               "tensorflowjs_converter --input_format=tfjs_layers_model "
               "--output_format=keras model.json model.h5, and give that file";
}

/// Converts an older form to that of Keras 3, whose text the model keeps.
void modernize(Json &json, const Json &training, const std::string &version,
               Model &model, Status &status) {
  LegacyNotes notes;
  notes.isKeras2 = !version.starts_with("3.");
  json = modernModel(json, training, notes);
  if (!notes.refusal.empty())
    status = Error{notes.refusal};
  model.warnings = std::move(notes.warnings);
  model.json = json.dump();
}

/// Reads the JSON, which `prepare` may change before.
weft::Result<Model> readPrepared(
    std::string_view text, const ModelOptions &options,
    const std::function<void(Json &, Model &, Status &status)> &prepare) {
  Result<Json> json = parseJson(text);
  if (!json)
    return json.error();
  Model model;
  model.json = std::string(text);
  Status status;
  try {
    prepare(*json, model, status);
    if (status)
      read(*json, options, model, status);
  } catch (const std::exception &failure) {
    status = Error{std::string("cannot be read: ") + failure.what()};
  }
  if (!status)
    return oneError(status.error(), "model",
                    "fix the model in Keras and save it again");
  return model;
}

} // namespace

weft::Result<Model> weft::keras::readModel(std::string_view text,
                                           const ModelOptions &options) {
  return readPrepared(
      text, options, [](Json &json, Model &model, Status &status) {
        if (std::string refusal = refusedOfJavaScript(json); !refusal.empty())
          status = Error{refusal};
        if (!status || !isLegacyJson(json))
          return;
        Json version = json["keras_version"];
        modernize(json, Json(),
                  version.is_string() ? version.get<std::string>() : "", model,
                  status);
      });
}

weft::Result<Model> weft::keras::readLegacyModel(const LegacyFile &file,
                                                 const ModelOptions &options) {
  return readPrepared(
      file.config, options, [&](Json &json, Model &model, Status &status) {
        Result<Json> training = Json();
        if (!file.training.empty())
          training = parseJson(file.training);
        if (!training)
          status = training.error().in("training_config");
        else
          modernize(json, *training, file.version, model, status);
      });
}

void weft::keras::drawSeeds(Model &model, uint64_t seed) {
  MersenneTwister random = MersenneTwister::python(seed);
  for (const std::vector<unsigned> &seeded : model.draws) {
    int64_t drawn = random.kerasSeed();
    for (unsigned variable : seeded)
      model.variables[variable].seed = drawn;
  }
}

weft::PortFacts weft::keras::variableFacts(const Variable &variable) {
  const Initializer &initializer = *variable.initializer;
  Json config = Json::parse(initializer.config, nullptr, false);
  if (!variable.inputAxes.empty() || !variable.outputAxes.empty()) {
    config["input_axes"] = variable.inputAxes;
    config["output_axes"] = variable.outputAxes;
  }
  PortFacts facts;
  facts.initializer.text = Json{
      {"class_name", initializer.className},
      {"config",
       std::move(config)}}.dump();
  facts.seed = variable.seed;
  // Statistics are states in the runtime, but weights in Keras.
  facts.isStatistic = variable.isUpdated && !variable.isSeedState();
  return facts;
}

const Loss *Model::lossOf(unsigned output) const {
  for (const OutputLoss &of : losses)
    if (of.output == output)
      return of.loss.get();
  return nullptr;
}

static const OutputMetric *firstMetric(const Model &model, unsigned output) {
  for (const OutputMetric &of : model.metrics)
    if (of.output == output)
      return &of;
  return nullptr;
}

bool Model::hasLabel(unsigned output) const {
  return lossOf(output) || firstMetric(*this, output);
}

bool Model::takesClassNumbers(unsigned output) const {
  if (const Loss *loss = lossOf(output))
    return loss->takesClassNumbers();
  const OutputMetric *of = firstMetric(*this, output);
  return of && of->metric->takesClassNumbers();
}

std::vector<int64_t> Model::labelShape(unsigned output) const {
  std::vector<int64_t> shape = outputShape(output);
  if (takesClassNumbers(output) && !shape.empty())
    shape.pop_back();
  return shape;
}

std::vector<unsigned> Model::trained() const {
  std::vector<unsigned> out;
  for (unsigned i = 0; i < variables.size(); ++i)
    if (variables[i].trainable)
      out.push_back(i);
  return out;
}

std::vector<WeightFacts> Model::trainedWeights() const {
  std::vector<WeightFacts> out;
  for (unsigned i : trained())
    out.push_back({variables[i].path, variables[i].shape, variables[i].dtype,
                   variables[i].constraint});
  return out;
}

/// A repeated NAME becomes NAME_1.
std::vector<OptimizerVariable> Model::optimizerVariables() const {
  if (!optimizer)
    return {};
  std::vector<OptimizerVariable> out = optimizer->variables(trainedWeights());
  std::map<std::string, unsigned> counts;
  for (OptimizerVariable &variable : out)
    if (unsigned earlier = counts[variable.path]++)
      variable.path += "_" + std::to_string(earlier);
  return out;
}
