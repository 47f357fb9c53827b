//===- CompileReader.cpp - optimizer, loss and metrics --------------------===//

#include "weft/compiler/frontends/keras/model/ModelReader.h"

#include <cmath>

using namespace weft;
using namespace weft::keras;

namespace {

class CompileReader {
public:
  CompileReader(const ModelOptions &options [[clang::lifetimebound]],
                Model &model [[clang::lifetimebound]],
                Status &status [[clang::lifetimebound]])
      : options(options), model(model), status(status) {}
  void readOptimizer(const Json &json, bool isScaled);
  void readLoss(const Json &json, const Json *weights);
  void readMetrics(const Json &json, bool areWeighted);

private:
  using Entries = std::vector<const Json *>; ///< one for each output, or null
  void readLossWeights(const Json &json, const Json &losses);
  void readMetric(const Json &json, unsigned output, bool isWeighted,
                  const std::string &where);
  /// The entries of a list or dict, one for each output.
  Entries byOutput(const Json &json, const std::string &where);
  const char *automaticAccuracy(unsigned output) const;
  std::string shownName(const std::string &name, unsigned output,
                        bool isWeighted) const;
  bool isTaken(const std::string &name) const;
  std::string outputNames() const {
    std::vector<std::string> names;
    for (unsigned output = 0; output < model.outputs.size(); ++output)
      names.push_back(model.outputName(output));
    return listed(names);
  }
  void refuse(const std::string &what) {
    if (status)
      status = Error{what};
  }

  const ModelOptions &options;
  Model &model;
  Status &status;
};

/// The place of a value in messages: the file, or the flag that overrides it.
std::string placeOf(const char *key, bool overridden) {
  return (overridden ? "--" : "compile_config: ") + std::string(key);
}

/// Whether the JSON is a dict by output, not an object with a class.
bool isDict(const Json &json) {
  return json.is_object() && !json.contains("class_name");
}

/// The metrics of nested lists and dicts in their order. Keras ignores the keys
/// if the model has one output.
std::vector<const Json *> leaves(const Json &json) {
  std::vector<const Json *> out;
  if (json.is_array() || isDict(json))
    for (const Json &entry : json)
      for (const Json *leaf : leaves(entry))
        out.push_back(leaf);
  else if (!json.is_null())
    out.push_back(&json);
  return out;
}

/// Reads the optimizer; with `isScaled` Keras wraps it in a LossScaleOptimizer.
void CompileReader::readOptimizer(const Json &json, bool isScaled) {
  const std::string where = placeOf("optimizer", options.optimizer.has_value());
  auto read = readObject(json, optimizerTable(), where, status);
  const char *scaling = "LossScaleOptimizer";
  model.isScaledByPolicy = read && isScaled && read->className != scaling;
  if (model.isScaledByPolicy)
    read = readObject(
        {{"class_name", scaling}, {"config", {{"inner_optimizer", json}}}},
        optimizerTable(), where, status);
  if (status)
    model.optimizer = std::static_pointer_cast<Optimizer>(read);
}

CompileReader::Entries CompileReader::byOutput(const Json &json,
                                               const std::string &where) {
  size_t count = model.outputs.size();
  Entries out(count);
  auto entryOf = [](const Json &entry) {
    return entry.is_null() ? nullptr : &entry;
  };
  if (json.is_array()) {
    if (json.size() != count)
      refuse(where + ": has " + std::to_string(json.size()) +
             " entries, the model has " + std::to_string(count) + " output" +
             (count == 1 ? "" : "s"));
    else
      for (unsigned output = 0; output < count; ++output)
        out[output] = entryOf(json[output]);
    return out;
  }
  size_t found = 0;
  for (unsigned output = 0; output < count; ++output)
    if (const std::string &name = model.outputName(output);
        json.contains(name)) {
      out[output] = entryOf(json[name]);
      ++found;
    }
  if (found != json.size())
    refuse(where + ": names " + shortText(json) + ", the model's " +
           (count == 1 ? "only output is " : "outputs are ") + outputNames());
  return out;
}

/// Reads one loss for all outputs, or one for each output.
void CompileReader::readLoss(const Json &json, const Json *weights) {
  const std::string where = placeOf("loss", options.loss.has_value());
  Entries entries(model.outputs.size(), &json);
  if (json.is_array() || isDict(json)) {
    entries = byOutput(json, where);
    // Keras accepts a dict without some of the outputs only if the outputs are
    // a dict.
    if (isDict(json) && json.size() < entries.size() && !model.outputsAreDict)
      refuse(where + ": names " + shortText(json) +
             ", the model's outputs are " + outputNames() +
             "; give each a loss, or null");
  }
  for (unsigned output = 0; output < entries.size() && status; ++output)
    if (entries[output])
      model.losses.push_back(
          {output, std::static_pointer_cast<const Loss>(readObject(
                       *entries[output], lossTable(), where, status))});
  if (weights && status)
    readLossWeights(*weights, json);
}

void CompileReader::readLossWeights(const Json &json, const Json &losses) {
  const std::string where = "compile_config: loss_weights";
  size_t count = model.outputs.size();
  Entries entries = {&json};
  if (json.is_array() || isDict(json))
    entries = byOutput(json, where);
  bool isEach = losses.is_array() || isDict(losses);
  if (status && (entries.size() != count || (count > 1 && !isEach)))
    return refuse(where + ": is " + shortText(json) + ", loss is " +
                  shortText(losses) +
                  "; give a list or dict of both, with an entry for each "
                  "output");
  if (isDict(json) && losses.is_array() && count > 1)
    return refuse(where + ": is a dict, loss a list; write both as dicts");
  for (OutputLoss &of : model.losses) {
    const Json *weight = status ? entries[of.output] : nullptr;
    if (status && (!weight || !weight->is_number()))
      return refuse(where + ": has no number for " +
                    inQuotes(model.outputName(of.output)) +
                    "; give one for each loss");
    if (weight)
      of.weight = weight->get<double>();
  }
}

/// The metric that "accuracy" stands for. Keras decides by the shapes of labels
/// and predictions. Labels are class numbers exactly if the loss or, without
/// one, the output's first metric takes them.
const char *CompileReader::automaticAccuracy(unsigned output) const {
  const std::vector<int64_t> &shape = model.outputShape(output);
  if (!shape.empty() && shape.back() == 1)
    return "BinaryAccuracy";
  return model.takesClassNumbers(output) ? "SparseCategoricalAccuracy"
                                         : "CategoricalAccuracy";
}

bool CompileReader::isTaken(const std::string &name) const {
  for (const OutputMetric &of : model.metrics)
    if (of.name == name)
      return true;
  return false;
}

/// The metric's name in logs: price_mae; a second one is price_mae_1, or
/// price_weighted_mae.
std::string CompileReader::shownName(const std::string &name, unsigned output,
                                     bool isWeighted) const {
  std::string prefix =
      model.outputs.size() > 1 ? model.outputName(output) + "_" : "";
  std::string first = prefix + name;
  if (isWeighted && isTaken(first))
    first = prefix + "weighted_" + name;
  std::string out = first;
  for (int64_t number = 1; isTaken(out); ++number)
    out = first + "_" + std::to_string(number);
  return out;
}

void CompileReader::readMetric(const Json &json, unsigned output,
                               bool isWeighted, const std::string &where) {
  Identifier id = readIdentifier(json, where, status);
  std::string plain = plainName(id.written);
  bool isAutomatic = id.isName && (plain == "accuracy" || plain == "acc");
  auto read = readObject(isAutomatic ? Json(automaticAccuracy(output)) : json,
                         metricTable(), where, status);
  if (!read) {
    if (!status && status.message().find("metric " + inQuotes(id.written)) !=
                       std::string::npos)
      status.error().message += ", accuracy";
    return;
  }
  auto metric = std::static_pointer_cast<Metric>(read);
  if (metric->name.empty())
    metric->name = id.isName ? id.written : snakeCase(metric->className);
  std::string name = shownName(metric->name, output, isWeighted);
  bool isLoss = name == "loss";
  for (const OutputLoss &of : model.losses)
    isLoss |= model.losses.size() > 1 &&
              name == model.outputName(of.output) + "_loss";
  if (isLoss)
    refuse(where + ": metric name " + inQuotes(name) +
           " is that of a loss; give the metric another \"name\"");
  model.metrics.push_back({output, metric, name, isWeighted});
}

void CompileReader::readMetrics(const Json &json, bool areWeighted) {
  const char *key = areWeighted ? "weighted_metrics" : "metrics";
  const std::string where =
      placeOf(key, !areWeighted && options.metrics.has_value());
  bool isEmpty = json.is_structured() && json.empty();
  if (isEmpty)
    return;
  Entries entries = {&json};
  if (model.outputs.size() > 1)
    entries = byOutput(json, where);
  for (unsigned output = 0; output < entries.size() && status; ++output)
    if (entries[output])
      for (const Json *metric : leaves(*entries[output]))
        if (status)
          readMetric(*metric, output, areWeighted, where);
}

/// Parses a command-line value: a name, or a JSON object.
Json givenValue(const std::string &text, const char *what, Status &status) {
  if (text.empty() || text[0] != '{')
    return text;
  Result<Json> read = parseJson(text);
  if (!read)
    status = read.error().in("--" + std::string(what));
  return read ? *read : Json();
}

void applyOverrides(Json &config, const ModelOptions &options, Status &status) {
  if (options.optimizer)
    config["optimizer"] = givenValue(*options.optimizer, "optimizer", status);
  if (options.loss)
    config["loss"] = givenValue(*options.loss, "loss", status);
  if (options.metrics) {
    Json metrics = Json::array();
    for (const std::string &metric : *options.metrics)
      metrics.push_back(givenValue(metric, "metrics", status));
    config["metrics"] = metrics;
  }
  auto isNull = [&](const char *key) {
    return !config.contains(key) || config[key].is_null();
  };
  // The default optimizer of model.compile() is RMSprop.
  if (isNull("optimizer") && (!isNull("loss") || options.learningRate))
    config["optimizer"] = "rmsprop";
  if (!options.learningRate)
    return;
  if (!std::isfinite(float(*options.learningRate))) {
    status = Error{
        "--learning-rate " + std::to_string(float(*options.learningRate)) +
        ": must be a finite number of float32; give a number such as 0.001"};
    return;
  }
  Json *optimizer = &config["optimizer"];
  auto isAround = [](const Json &json) {
    return json.is_object() && json.contains("config") &&
           json["config"].is_object() &&
           json["config"].contains("inner_optimizer");
  };
  while (isAround(*optimizer))
    optimizer = &(*optimizer)["config"]["inner_optimizer"];
  if (optimizer->is_string())
    *optimizer = {{"class_name", *optimizer}, {"config", Json::object()}};
  if (optimizer->is_object())
    (*optimizer)["config"]["learning_rate"] =
        double(float(*options.learningRate));
}

} // namespace

void weft::keras::readCompileConfig(const Json *json,
                                    const ModelOptions &options, Model &model,
                                    Status &status) {
  Json config = json ? *json : Json::object();
  Fields f(config, "compile_config", status);
  // These keys affect how Keras runs the model, but not its results.
  f.accept({"run_eagerly", "steps_per_execution", "jit_compile"});
  bool isScaled = f.boolean("auto_scale_loss", true) && model.isMixedFloat16;
  if (!status)
    return;
  applyOverrides(config, options, status);
  const Json *optimizer = f.find("optimizer"), *loss = f.find("loss"),
             *weights = f.find("loss_weights"), *metrics = f.find("metrics"),
             *weighted = f.find("weighted_metrics");
  f.finish();
  CompileReader reader(options, model, status);
  if (optimizer && status)
    reader.readOptimizer(*optimizer, isScaled);
  if (loss && status)
    reader.readLoss(*loss, weights);
  if (metrics && status)
    reader.readMetrics(*metrics, false);
  if (weighted && status)
    reader.readMetrics(*weighted, true);
  model.compileConfig = config.dump();
}
