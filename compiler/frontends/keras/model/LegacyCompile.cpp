//===- LegacyCompile.cpp - training_config as compile_config --------------===//

#include "weft/compiler/frontends/keras/losses/Loss.h"
#include "weft/compiler/frontends/keras/metrics/Metric.h"
#include "weft/compiler/frontends/keras/model/LegacyConfig.h"
#include "weft/compiler/frontends/keras/optimizers/Optimizer.h"

using namespace weft::keras;

namespace {

bool isObject(const Json &json) {
  return json.is_object() && json.contains("class_name") &&
         json["class_name"].is_string();
}

Json configOf(const Json &object) {
  Json config = object.value("config", Json::object());
  return config.is_object() ? config : Json::object();
}

/// A loss or metric: Keras 2 wraps functions, whose name is "fn".
Json wrapped(const Json &object, const char *module, const AnyTable &table) {
  std::string name = object["class_name"];
  Json config = configOf(object);
  if (config.contains("fn") && config["fn"].is_string()) {
    std::string function = config["fn"];
    config.erase("fn");
    if (!table.find(name))
      name = function;
  }
  const TableRow *row = table.find(name);
  return inModule(module, row ? row->name : name, std::move(config));
}

Json loss(const Json &json) {
  if (isObject(json)) {
    Json out = wrapped(json, "keras.losses", lossTable());
    if (out["config"].value("reduction", Json()) == "auto")
      out["config"]["reduction"] = "sum_over_batch_size";
    return out;
  }
  Json out = json;
  if (json.is_structured())
    for (Json &part : out)
      part = loss(part);
  return out;
}

/// Metrics of one output; `prefix` is removed from their names.
Json metrics(const Json &json, const std::string &prefix) {
  if (isObject(json)) {
    Json out = wrapped(json, "keras.metrics", metricTable());
    Json name = out["config"].value("name", Json());
    if (name.is_string() && !prefix.empty() &&
        name.get<std::string>().starts_with(prefix))
      out["config"]["name"] = name.get<std::string>().substr(prefix.size());
    return out;
  }
  if (!json.is_structured())
    return json;
  Json out = json.is_array() ? Json::array() : Json::object();
  for (const auto &[key, part] : json.items())
    if (json.is_object())
      out[key] = metrics(part, prefix);
    else if (!part.is_null())
      out.push_back(metrics(part, prefix));
  return out;
}

/// The metrics of all outputs. Keras 2 writes a list of lists, and the name of
/// one of several outputs in front of its metrics' (`hasPrefix`).
Json metricsOf(const Json &json, const std::vector<std::string> &outputs,
               bool hasPrefix) {
  bool isByOutput = json.is_array() && !json.empty();
  if (isByOutput)
    for (const Json &part : json)
      isByOutput &= part.is_array();
  if (!isByOutput || json.size() != std::max<size_t>(1, outputs.size()))
    return metrics(json, "");
  if (json.size() == 1)
    return metrics(json[0], "");
  Json out = Json::array();
  for (size_t i = 0; i < outputs.size(); ++i)
    out.push_back(metrics(json[i], hasPrefix ? outputs[i] + "_" : ""));
  return out;
}

Json schedule(const Json &json) {
  Json config = configOf(json);
  if (config.contains("name") && config["name"].is_null())
    config.erase("name");
  return inModule("keras.optimizers.schedules",
                  json["class_name"].get<std::string>(), std::move(config));
}

Json optimizer(const Json &json, LegacyNotes &notes) {
  if (!isObject(json))
    return json;
  std::string name = json["class_name"];
  if (size_t at = name.find('>'); at != name.npos)
    name.erase(0, at + 1); // Custom>Adam
  if (name.starts_with("LossScaleOptimizer"))
    name = "LossScaleOptimizer"; // LossScaleOptimizerV3
  Json config = configOf(json);
  if (config.contains("lr")) {
    config["learning_rate"] = config["lr"];
    config.erase("lr");
  }
  if (config.contains("learning_rate") && isObject(config["learning_rate"]))
    config["learning_rate"] = schedule(config["learning_rate"]);
  if (config.contains("inner_optimizer"))
    config["inner_optimizer"] = optimizer(config["inner_optimizer"], notes);
  const TableRow *row = optimizerTable().find(name);
  if (row) {
    bool decays = config.contains("decay") && config["decay"].is_number() &&
                  config["decay"].get<double>() != 0;
    if (decays)
      notes.warn("optimizer " + name +
                 ": Keras 3 has no \"decay\" and ignores it; a schedule "
                 "InverseTimeDecay computes the same rates");
    dropUnknown(config, *row,
                {{"decay", nullptr},
                 {"jit_compile", nullptr},
                 {"is_legacy_optimizer", nullptr},
                 {"dynamic", true},
                 {"schedule_decay", nullptr}});
  }
  return inModule("keras.optimizers", row ? row->name : name,
                  std::move(config));
}

} // namespace

Json weft::keras::modernCompile(const Json &training,
                                const std::vector<std::string> &outputs,
                                LegacyNotes &notes) {
  Json out = {{"optimizer",
               optimizer(training.value("optimizer_config", Json()), notes)},
              {"loss", loss(training.value("loss", Json()))},
              {"loss_weights", training.value("loss_weights", Json())}};
  for (const char *key : {"metrics", "weighted_metrics"})
    out[key] = metricsOf(training.value(key, Json()), outputs, notes.isKeras2);
  out["run_eagerly"] = training.value("run_eagerly", Json(false));
  out["steps_per_execution"] = training.value("steps_per_execution", Json(1));
  out["jit_compile"] = training.value("jit_compile", Json(true));
  return out;
}
