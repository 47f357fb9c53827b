//===- CompileReader.cpp - optimizer, loss and metrics --------------------===//

#include "weft/compiler/frontends/keras/model/ModelReader.h"

#include <cmath>

using namespace weft::keras;

namespace {

class CompileReader {
public:
  CompileReader(const ModelOptions &options, Model &model, std::string &error)
      : options(options), model(model), error(error) {}
  void readOptimizer(const Json &json);
  void readLoss(const Json &json);
  void readMetrics(const Json &json);

private:
  void readMetric(const Json &json);
  const char *automaticAccuracy() const;
  /// The entry of the only output in a list or dict of losses or metrics.
  const Json *onlyOutput(const Json &json, const std::string &where);
  const std::string &outputName() const {
    return model.layerOf(model.outputs[0]).name;
  }
  void refuse(const std::string &what) {
    if (error.empty())
      error = what;
  }

  const ModelOptions &options;
  Model &model;
  std::string &error;
};

/// Where a value stands: in the file, or in the flag that overrides it.
std::string placeOf(const char *key, bool overridden) {
  return (overridden ? "--" : "compile_config: ") + std::string(key);
}

void CompileReader::readOptimizer(const Json &json) {
  const std::string where = placeOf("optimizer", options.optimizer.has_value());
  auto read = readObject(json, optimizerTable(), where, error);
  if (!read)
    return;
  auto optimizer = std::static_pointer_cast<Optimizer>(read);
  if (optimizer->name.empty())
    optimizer->name = snakeCase(optimizer->className);
  model.optimizer = optimizer;
}

const Json *CompileReader::onlyOutput(const Json &json,
                                      const std::string &where) {
  if (json.is_array() && json.size() == 1)
    return &json[0];
  if (json.is_object() && !json.contains("class_name")) {
    if (json.size() == 1 && json.contains(outputName()))
      return &json[outputName()];
    refuse(where + ": names " + shortText(json) +
           ", the model's only output is " + inQuotes(outputName()));
    return nullptr;
  }
  if (json.is_array()) {
    refuse(where + ": has " + std::to_string(json.size()) +
           " entries, the model has 1 output");
    return nullptr;
  }
  return &json;
}

void CompileReader::readLoss(const Json &json) {
  const std::string where = placeOf("loss", options.loss.has_value());
  if (model.outputs.size() != 1)
    return refuse(where + ": a model with " +
                  std::to_string(model.outputs.size()) +
                  " outputs can be used to predict only");
  const Json *entry = onlyOutput(json, where);
  if (!entry)
    return;
  model.loss = std::static_pointer_cast<const Loss>(
      readObject(*entry, lossTable(), where, error));
}

/// Keras decides by the shapes of labels and predictions; labels are numbers of
/// classes exactly where the loss wants them so.
const char *CompileReader::automaticAccuracy() const {
  const std::vector<int64_t> &shape = model.nodes[model.outputs[0]].shape;
  if (!shape.empty() && shape.back() == 1)
    return "BinaryAccuracy";
  return model.loss && model.loss->takesClassNumbers()
             ? "SparseCategoricalAccuracy"
             : "CategoricalAccuracy";
}

void CompileReader::readMetric(const Json &json) {
  const std::string where = placeOf("metrics", options.metrics.has_value());
  Identifier id = readIdentifier(json, where, error);
  std::string plain = plainName(id.written);
  bool isAutomatic = id.isName && (plain == "accuracy" || plain == "acc");
  auto read = readObject(isAutomatic ? Json(automaticAccuracy()) : json,
                         metricTable(), where, error);
  if (!read) {
    if (error.find("metric " + inQuotes(id.written)) != error.npos)
      error += ", accuracy";
    return;
  }
  auto metric = std::static_pointer_cast<Metric>(read);
  if (metric->name.empty())
    metric->name = id.isName ? id.written : snakeCase(metric->className);
  for (const MetricPtr &other : model.metrics)
    if (error.empty() &&
        (other->name == metric->name || metric->name == "loss"))
      error = where + ": metric name " + inQuotes(metric->name) +
              " is used twice; give each metric its own \"name\"";
  model.metrics.push_back(metric);
}

void CompileReader::readMetrics(const Json &json) {
  const std::string where = placeOf("metrics", options.metrics.has_value());
  if (model.outputs.size() != 1)
    return refuse(where + ": a model with " +
                  std::to_string(model.outputs.size()) +
                  " outputs can be used to predict only");
  const Json *entry = &json;
  bool nested = json.is_array() && json.size() == 1 && json[0].is_array();
  if (nested || (json.is_object() && !json.contains("class_name")))
    entry = onlyOutput(json, where);
  if (!entry)
    return;
  if (!entry->is_array())
    return readMetric(*entry);
  for (const Json &metric : *entry)
    if (error.empty())
      readMetric(metric);
}

/// A value given on a command line: a name, or a JSON object.
Json givenValue(const std::string &text, const char *what, std::string &error) {
  if (text.empty() || text[0] != '{')
    return text;
  Json out;
  if (std::string reason = parseJson(text, out); !reason.empty())
    error = "--" + std::string(what) + ": " + reason;
  return out;
}

void applyOverrides(Json &config, const ModelOptions &options,
                    std::string &error) {
  if (options.optimizer)
    config["optimizer"] = givenValue(*options.optimizer, "optimizer", error);
  if (options.loss)
    config["loss"] = givenValue(*options.loss, "loss", error);
  if (options.metrics) {
    Json metrics = Json::array();
    for (const std::string &metric : *options.metrics)
      metrics.push_back(givenValue(metric, "metrics", error));
    config["metrics"] = metrics;
  }
  auto isNull = [&](const char *key) {
    return !config.contains(key) || config[key].is_null();
  };
  // model.compile() without an optimizer takes RMSprop.
  if (isNull("optimizer") && (!isNull("loss") || options.learningRate))
    config["optimizer"] = "rmsprop";
  if (!options.learningRate)
    return;
  if (!std::isfinite(float(*options.learningRate))) {
    error = "--learning-rate " + std::to_string(float(*options.learningRate)) +
            ": must be a finite number of float32; give a number such as 0.001";
    return;
  }
  Json &optimizer = config["optimizer"];
  if (optimizer.is_string())
    optimizer = {{"class_name", optimizer}, {"config", Json::object()}};
  if (optimizer.is_object())
    optimizer["config"]["learning_rate"] = double(float(*options.learningRate));
}

} // namespace

void weft::keras::readCompileConfig(const Json *json,
                                    const ModelOptions &options, Model &model,
                                    std::string &error) {
  Json config = json ? *json : Json::object();
  Fields f(config, "compile_config", error);
  f.accept({"run_eagerly", "steps_per_execution", "jit_compile",
            "auto_scale_loss"}); // how Keras runs, not what it computes
  if (!error.empty())
    return;
  applyOverrides(config, options, error);
  f.expectUnset("loss_weights");
  f.expectUnset("weighted_metrics", Json::array());
  const Json *optimizer = f.find("optimizer"), *loss = f.find("loss"),
             *metrics = f.find("metrics");
  f.finish();
  CompileReader reader(options, model, error);
  if (optimizer && error.empty())
    reader.readOptimizer(*optimizer);
  if (loss && error.empty())
    reader.readLoss(*loss);
  if (metrics && error.empty())
    reader.readMetrics(*metrics);
  model.compileConfig = config.dump();
}
