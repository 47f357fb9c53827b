//===- SavedConfig.cpp - compile_config as Keras serialises it ------------===//

#include "weft/compiler/frontends/keras/SavedConfig.h"
#include "weft/compiler/frontends/keras/Json.h"
#include "weft/compiler/frontends/keras/SavedPaths.h"

using namespace weft::keras;

namespace {

/// An object that Keras finds by its module and class.
Json serialised(const char *module, const char *className, Json config) {
  return {{"module", module},
          {"class_name", className},
          {"config", std::move(config)},
          {"registered_name", nullptr}};
}

const char *classOf(OptimizerKind kind) {
  switch (kind) {
  case OptimizerKind::SGD:
    return "SGD";
  case OptimizerKind::RMSprop:
    return "RMSprop";
  case OptimizerKind::Adam:
    return "Adam";
  }
  return "";
}

const char *classOf(LossKind kind) {
  switch (kind) {
  case LossKind::MeanSquaredError:
    return "MeanSquaredError";
  case LossKind::MeanAbsoluteError:
    return "MeanAbsoluteError";
  case LossKind::BinaryCrossentropy:
    return "BinaryCrossentropy";
  case LossKind::CategoricalCrossentropy:
    return "CategoricalCrossentropy";
  case LossKind::SparseCategoricalCrossentropy:
    return "SparseCategoricalCrossentropy";
  }
  return "";
}

const char *classOf(MetricKind kind) {
  switch (kind) {
  case MetricKind::BinaryAccuracy:
    return "BinaryAccuracy";
  case MetricKind::CategoricalAccuracy:
    return "CategoricalAccuracy";
  case MetricKind::SparseCategoricalAccuracy:
    return "SparseCategoricalAccuracy";
  case MetricKind::MeanSquaredError:
    return "MeanSquaredError";
  case MetricKind::MeanAbsoluteError:
    return "MeanAbsoluteError";
  }
  return "";
}

/// Every option of the optimizer, as its get_config gives them.
Json optimizerObject(const Optimizer &optimizer) {
  Json config = {{"name", optimizer.name},
                 {"learning_rate", double(float(optimizer.learningRate))},
                 {"weight_decay", nullptr},
                 {"clipnorm", nullptr},
                 {"global_clipnorm", nullptr},
                 {"clipvalue", nullptr},
                 {"use_ema", false},
                 {"ema_momentum", 0.99},
                 {"ema_overwrite_frequency", nullptr},
                 {"loss_scale_factor", nullptr},
                 {"gradient_accumulation_steps", nullptr}};
  switch (optimizer.kind) {
  case OptimizerKind::SGD:
    config["momentum"] = optimizer.momentum;
    config["nesterov"] = optimizer.nesterov;
    break;
  case OptimizerKind::RMSprop:
    config["rho"] = optimizer.rho;
    config["momentum"] = optimizer.momentum;
    config["epsilon"] = optimizer.epsilon;
    config["centered"] = optimizer.centered;
    break;
  case OptimizerKind::Adam:
    config["beta_1"] = optimizer.beta1;
    config["beta_2"] = optimizer.beta2;
    config["epsilon"] = optimizer.epsilon;
    config["amsgrad"] = optimizer.amsgrad;
    break;
  }
  return serialised("keras.optimizers", classOf(optimizer.kind),
                    std::move(config));
}

/// An object without a module, such as a flag's {"class_name": "mse"}, with the
/// module and class that Keras needs to find it; a name in the spelling that
/// Keras knows. What Keras wrote stays as it is.
Json completed(const Json &written, const char *module, const char *className,
               std::initializer_list<const char *> shortNames) {
  if (written.is_object() && !written.contains("module"))
    return serialised(module, className,
                      written.value("config", Json::object()));
  if (!written.is_string())
    return written;
  for (const char *name : shortNames)
    if (written == name)
      return written;
  return snakeCase(className);
}

Json savedLoss(const Json &written, LossKind kind) {
  return completed(written, "keras.losses", classOf(kind),
                   {"mse", "mae", "bce"});
}

/// One entry of `metrics` for each of the model's, unless they are written by output.
Json savedMetrics(const Json &written, const std::vector<Metric> &metrics) {
  if (!written.is_array() || written.size() != metrics.size())
    return written;
  Json out = Json::array();
  for (size_t i = 0; i < metrics.size(); ++i)
    out.push_back(completed(written[i], "keras.metrics",
                            classOf(metrics[i].kind),
                            {"accuracy", "acc", "mse", "mae"}));
  return out;
}

} // namespace

std::string weft::keras::savedConfig(const Model &model) {
  Json whole = Json::parse(model.json, nullptr, false);
  Json compile = Json::parse(model.compileConfig, nullptr, false);
  Json &written = whole["compile_config"];
  if ((written.is_null() ? Json::object() : written) == compile)
    return model.json;
  if (model.optimizer && !(compile["optimizer"].is_object() &&
                           compile["optimizer"].contains("module")))
    compile["optimizer"] = optimizerObject(*model.optimizer);
  if (model.loss)
    compile["loss"] = savedLoss(compile["loss"], model.loss->kind);
  if (!model.metrics.empty())
    compile["metrics"] = savedMetrics(compile["metrics"], model.metrics);
  for (const auto &[key, otherwise] :
       {std::pair<const char *, Json>{"loss", nullptr},
        {"loss_weights", nullptr},
        {"metrics", nullptr},
        {"weighted_metrics", nullptr},
        {"run_eagerly", false},
        {"steps_per_execution", 1},
        {"jit_compile", true}})
    if (!compile.contains(key))
      compile[key] = otherwise;
  written = std::move(compile);
  return whole.dump();
}
