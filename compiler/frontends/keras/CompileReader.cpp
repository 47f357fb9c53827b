//===- CompileReader.cpp - optimizer, loss and metrics --------------------===//

#include "weft/compiler/frontends/keras/ModelReader.h"

#include <algorithm>
#include <cmath>

using namespace weft::keras;

namespace {

/// "mean_squared_error" and "MeanSquaredError" are one name.
std::string plainName(const std::string &name) {
  std::string out;
  for (char c : name)
    if (c != '_')
      out += char(std::tolower(c));
  return out;
}

/// A name, {"class_name", "config"} or a serialised function.
struct Identifier {
  std::string name;    ///< as plainName
  std::string written; ///< as in the file
  bool isString = false;
  Json config = Json::object();
};

Identifier readIdentifier(const Json &json, const std::string &where,
                          std::string &error) {
  Identifier out;
  if (json.is_string()) {
    out.isString = true;
    out.written = json.get<std::string>();
  } else {
    Fields f(json, where, error);
    out.written = f.text("class_name", "");
    const Json *config = f.find("config");
    f.accept({"module", "registered_name", "shared_object_id", "build_config"});
    f.finish();
    if (out.written == "function" && config && config->is_string()) {
      out.written = config->get<std::string>();
      out.isString = true;
    } else if (config) {
      out.config = *config;
    }
  }
  out.name = plainName(out.written);
  return out;
}

template <typename Kind> using Named = std::pair<const char *, Kind>;

/// The entry of a plain name; refuses others with the list of what there is.
template <typename Kind, size_t count>
std::optional<Kind> lookUp(const Named<Kind> (&names)[count],
                           const Identifier &id, const char *what,
                           const std::string &where, std::string &error) {
  std::vector<std::string> supported;
  for (const auto &[name, kind] : names) {
    if (plainName(name) == id.name)
      return kind;
    supported.push_back(name);
  }
  if (error.empty())
    error = where + ": " + what + " " + inQuotes(id.written) +
            " is not supported; supported are " + listed(supported);
  return std::nullopt;
}

constexpr Named<OptimizerKind> kOptimizers[] = {
    {"SGD", OptimizerKind::SGD},
    {"RMSprop", OptimizerKind::RMSprop},
    {"Adam", OptimizerKind::Adam}};
constexpr Named<LossKind> kLosses[] = {
    {"mean_squared_error", LossKind::MeanSquaredError},
    {"mse", LossKind::MeanSquaredError},
    {"mean_absolute_error", LossKind::MeanAbsoluteError},
    {"mae", LossKind::MeanAbsoluteError},
    {"binary_crossentropy", LossKind::BinaryCrossentropy},
    {"bce", LossKind::BinaryCrossentropy},
    {"categorical_crossentropy", LossKind::CategoricalCrossentropy},
    {"sparse_categorical_crossentropy",
     LossKind::SparseCategoricalCrossentropy}};
constexpr Named<MetricKind> kMetrics[] = {
    {"binary_accuracy", MetricKind::BinaryAccuracy},
    {"categorical_accuracy", MetricKind::CategoricalAccuracy},
    {"sparse_categorical_accuracy", MetricKind::SparseCategoricalAccuracy},
    {"mean_squared_error", MetricKind::MeanSquaredError},
    {"mse", MetricKind::MeanSquaredError},
    {"mean_absolute_error", MetricKind::MeanAbsoluteError},
    {"mae", MetricKind::MeanAbsoluteError}};

class CompileReader {
public:
  CompileReader(const ModelOptions &options, Model &model, std::string &error)
      : options(options), model(model), error(error) {}
  void readOptimizer(const Json &json);
  void readLoss(const Json &json);
  void readMetrics(const Json &json);

private:
  void readOptimizerOptions(Fields &f, Optimizer &optimizer);
  void readMetric(const Json &json);
  MetricKind automaticAccuracy() const;
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
  Identifier id = readIdentifier(json, where, error);
  auto kind = lookUp(kOptimizers, id, "optimizer", where, error);
  if (!kind)
    return;
  Optimizer out;
  out.kind = *kind;
  out.name = *kind == OptimizerKind::SGD    ? "sgd"
             : *kind == OptimizerKind::Adam ? "adam"
                                            : "rm_sprop";
  out.learningRate = *kind == OptimizerKind::SGD ? 0.01 : 0.001;
  Fields f(id.config, where + ": " + id.written, error);
  out.name = f.text("name", out.name);
  if (const Json *rate = f.find("learning_rate"); rate && rate->is_object())
    f.refuse("learning rate schedule " +
             shortText(rate->value("class_name", Json())) +
             " is not supported; give a number");
  else
    out.learningRate = f.number("learning_rate", out.learningRate);
  // Negative rates climb the loss, as in Keras.
  if (!std::isfinite(float(out.learningRate)))
    f.refuse("\"learning_rate\" is " + std::to_string(float(out.learningRate)) +
             " in float32; give a finite number");
  readOptimizerOptions(f, out);
  f.finish();
  model.optimizer = out;
}

void CompileReader::readOptimizerOptions(Fields &f, Optimizer &out) {
  for (const char *key :
       {"weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema",
        "gradient_accumulation_steps"})
    f.expectUnset(key);
  f.expectUnset("loss_scale_factor", 1.0);
  f.accept({"ema_momentum", "ema_overwrite_frequency"}); // used with use_ema
  if (out.kind != OptimizerKind::Adam)
    out.momentum = f.number("momentum", 0);
  if (out.momentum < 0 || out.momentum > 1)
    f.refuse("\"momentum\" is " + std::to_string(out.momentum) +
             "; it must lie between 0 and 1");
  switch (out.kind) {
  case OptimizerKind::SGD:
    out.nesterov = f.boolean("nesterov", false);
    break;
  case OptimizerKind::RMSprop:
    out.rho = f.number("rho", out.rho);
    out.epsilon = f.number("epsilon", out.epsilon);
    out.centered = f.boolean("centered", false);
    break;
  case OptimizerKind::Adam:
    out.beta1 = f.number("beta_1", out.beta1);
    out.beta2 = f.number("beta_2", out.beta2);
    out.epsilon = f.number("epsilon", out.epsilon);
    out.amsgrad = f.boolean("amsgrad", false);
    break;
  }
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
  Identifier id = readIdentifier(*entry, where, error);
  auto kind = lookUp(kLosses, id, "loss", where, error);
  if (!kind)
    return;
  Loss out;
  out.kind = *kind;
  Fields f(id.config, where + ": " + id.written, error);
  f.accept({"name", "dtype", "fn"});
  bool entropy = out.kind != LossKind::MeanSquaredError &&
                 out.kind != LossKind::MeanAbsoluteError;
  if (entropy) {
    out.fromLogits = f.boolean("from_logits", false);
    f.expectUnset("ignore_class");
    f.expectUnset("axis", -1);
  }
  if (out.kind == LossKind::CategoricalCrossentropy ||
      out.kind == LossKind::BinaryCrossentropy)
    out.labelSmoothing = f.number("label_smoothing", 0);
  std::string reduction = f.text("reduction", "sum_over_batch_size");
  if (reduction == "sum")
    out.reduction = Reduction::Sum;
  else if (reduction == "mean_with_sample_weight")
    out.reduction = Reduction::MeanWithSampleWeight;
  else if (reduction != "sum_over_batch_size" && reduction != "mean")
    f.refuse("reduction " + inQuotes(reduction) +
             " is not supported; supported are sum_over_batch_size, mean, "
             "mean_with_sample_weight, sum");
  f.finish();
  model.loss = out;
}

MetricKind CompileReader::automaticAccuracy() const {
  // Keras decides by the shapes of labels and predictions; labels are sparse
  // exactly where the loss wants them so.
  const std::vector<int64_t> &shape = model.nodes[model.outputs[0]].shape;
  if (!shape.empty() && shape.back() == 1)
    return MetricKind::BinaryAccuracy;
  return model.loss &&
                 model.loss->kind == LossKind::SparseCategoricalCrossentropy
             ? MetricKind::SparseCategoricalAccuracy
             : MetricKind::CategoricalAccuracy;
}

void CompileReader::readMetric(const Json &json) {
  const std::string where = placeOf("metrics", options.metrics.has_value());
  Identifier id = readIdentifier(json, where, error);
  Metric out;
  out.name = id.written;
  if (id.isString && (id.name == "accuracy" || id.name == "acc")) {
    out.kind = automaticAccuracy();
  } else {
    auto kind = lookUp(kMetrics, id, "metric", where, error);
    if (!kind) {
      if (error.find("metric " + inQuotes(id.written)) != error.npos)
        error += ", accuracy";
      return;
    }
    out.kind = *kind;
  }
  Fields f(id.config, where + ": " + id.written, error);
  f.accept({"dtype", "fn"});
  if (!id.isString)
    for (const auto &[name, kind] : kMetrics)
      if (plainName(name) == id.name)
        out.name = f.text("name", name);
  if (out.kind == MetricKind::BinaryAccuracy)
    out.threshold = f.number("threshold", 0.5);
  f.finish();
  for (const Metric &other : model.metrics)
    if (other.name == out.name || out.name == "loss")
      f.refuse("metric name " + inQuotes(out.name) +
               " is used twice; give each metric its own \"name\"");
  model.metrics.push_back(out);
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
