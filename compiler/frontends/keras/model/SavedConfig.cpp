//===- SavedConfig.cpp - compile_config as Keras serialises it ------------===//

#include "weft/compiler/frontends/keras/model/SavedConfig.h"
#include "weft/base/config/OptionWriter.h"

using namespace weft::keras;

namespace {

bool isOne(const Json &written) {
  return written.is_object() && written.contains("class_name");
}

/// An object in the form in which Keras finds it by its module and class.
Json serialised(const char *module, const char *className, Json config) {
  return {{"module", module},
          {"class_name", className},
          {"config", std::move(config)},
          {"registered_name", nullptr}};
}

/// The optimizer with all its options, as its get_config returns them.
Json optimizerObject(const Optimizer &optimizer) {
  Json config = writeOptions(optimizer);
  config["name"] = optimizer.path();
  if (optimizer.schedule) {
    config["learning_rate"] = serialised(
        "keras.optimizers.schedules", optimizer.schedule->className.c_str(),
        Json::parse(optimizer.schedule->config, nullptr, false));
  } else {
    config["learning_rate"] = double(float(optimizer.learningRate));
  }
  return serialised("keras.optimizers", optimizer.className.c_str(),
                    std::move(config));
}

/// Adds module and class to an object without a module, such as a flag's
/// {"class_name": "mse"}, and spells a name as Keras does. Objects that Keras
/// wrote are unchanged.
Json completed(const Json &written, const char *module,
               const std::string &className, const AnyTable &table) {
  if (written.is_object() && !written.contains("module"))
    return serialised(module, className.c_str(),
                      written.value("config", Json::object()));
  if (!written.is_string())
    return written;
  for (const char *name : table.find(className)->otherNames)
    if (written == name)
      return written;
  return written == "accuracy" || written == "acc" ? written
                                                   : Json(snakeCase(className));
}

/// Adds the module, which Keras needs, to optimizers and schedules, also inner
/// ones, and the name to optimizers.
Json withModules(Json written) {
  for (Json &entry : written)
    if (entry.is_structured())
      entry = withModules(std::move(entry));
  if (!isOne(written) || written.contains("module"))
    return written;
  std::string name = written["class_name"].is_string()
                         ? written["class_name"].get<std::string>()
                         : "";
  const TableRow *optimizer = optimizerTable().find(name);
  Json config = written.value("config", Json::object());
  if (optimizer && !config.contains("name"))
    config["name"] = snakeCase(optimizer->name);
  const TableRow *schedule = scheduleTable().find(name);
  return serialised(schedule ? "keras.optimizers.schedules"
                             : "keras.optimizers",
                    optimizer  ? optimizer->name
                    : schedule ? schedule->name
                               : name.c_str(),
                    std::move(config));
}

/// Completes each entry of `metrics`, unless they are given by output.
Json savedMetrics(const Json &written,
                  const std::vector<OutputMetric> &metrics) {
  std::vector<const Metric *> listed;
  for (const OutputMetric &of : metrics)
    if (!of.isWeighted)
      listed.push_back(of.metric.get());
  if (!written.is_array() || written.size() != listed.size())
    return written;
  Json out = Json::array();
  for (size_t i = 0; i < listed.size(); ++i)
    out.push_back(written[i].is_array()
                      ? written[i]
                      : completed(written[i], "keras.metrics",
                                  listed[i]->className, metricTable()));
  return out;
}

/// A loss for all outputs; those given by output are unchanged.
Json savedLoss(const Json &written, const std::vector<OutputLoss> &losses) {
  return written.is_string() || isOne(written)
             ? completed(written, "keras.losses", losses[0].loss->className,
                         lossTable())
             : written;
}

} // namespace

std::string weft::keras::savedConfig(const Model &model) {
  Json whole = Json::parse(model.json, nullptr, false);
  Json compile = Json::parse(model.compileConfig, nullptr, false);
  Json &written = whole["compile_config"];
  if ((written.is_null() ? Json::object() : written) == compile)
    return model.json;
  const Optimizer *optimizer = model.optimizer.get();
  if (optimizer && model.isScaledByPolicy)
    optimizer = optimizer->innerOptimizers({})[0].optimizer.get();
  if (optimizer && !optimizer->innerOptimizers({}).empty())
    compile["optimizer"] = withModules(compile["optimizer"]);
  else if (optimizer && !(isOne(compile["optimizer"]) &&
                          compile["optimizer"].contains("module")))
    compile["optimizer"] = optimizerObject(*optimizer);
  if (!model.losses.empty())
    compile["loss"] = savedLoss(compile["loss"], model.losses);
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
