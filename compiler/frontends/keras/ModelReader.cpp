//===- ModelReader.cpp - a model.json as a whole --------------------------===//

#include "weft/compiler/frontends/keras/Graph.h"
#include "weft/compiler/frontends/keras/PythonRandom.h"

using namespace weft::keras;

namespace {

std::string flattened(std::string path) {
  for (char &c : path)
    if (c == '/')
      c = '_';
  return path;
}

void read(const Json &json, const ModelOptions &options, Model &model,
          std::string &error) {
  Fields f(json, "", error);
  model.className = f.text("class_name", "");
  const Json *config = f.find("config");
  const Json *compile = f.find("compile_config");
  f.accept({"module", "registered_name", "build_config", "shared_object_id"});
  if (json.is_object() && json.contains("keras_version"))
    f.refuse("the file was written by tf.keras " +
             shortText(json["keras_version"]) +
             "; write it with Keras 3 (model.to_json())");
  if (model.className != "Sequential" && model.className != "Functional")
    f.refuse("model class " + inQuotes(model.className) +
             " is not supported; supported models are Functional, Sequential");
  if (!config)
    f.refuse("a model needs a \"config\"");
  f.finish();
  Graphs graphs;
  if (error.empty())
    readGraphs(*config, options, model, graphs, error);
  if (error.empty())
    runGraphs(graphs, model, error);
  if (error.empty())
    readCompileConfig(compile, options, model, error);
}

} // namespace

Result<Model> weft::keras::readModel(std::string_view text,
                                     const ModelOptions &options) {
  Json json;
  std::string error = parseJson(text, json);
  if (!error.empty())
    return Result<Model>::failure(error);
  Model model;
  model.json = std::string(text);
  try {
    read(json, options, model, error);
  } catch (const std::exception &failure) {
    error = std::string("cannot be read: ") + failure.what();
  }
  if (!error.empty())
    return Result<Model>::failure(
        mended(error, "mend the model in Keras and write it anew"));
  return {std::move(model), ""};
}

void weft::keras::drawSeeds(Model &model, uint64_t seed) {
  PythonRandom random(seed);
  for (int variable : model.draws) {
    int64_t drawn = random.seed();
    if (variable >= 0)
      model.variables[variable].initializer.seed = drawn;
  }
}

std::string weft::keras::variableMetadata(const Variable &variable) {
  const Initializer &init = variable.initializer;
  Json out = {{"initializer",
               {{"class_name", init.className},
                {"config", Json::parse(init.config, nullptr, false)}}},
              {"seed", init.seed ? Json(*init.seed) : Json(nullptr)},
              {"trainable", variable.trainable}};
  return out.dump();
}

std::vector<OptimizerVariable> Model::optimizerVariables() const {
  std::vector<OptimizerVariable> out;
  if (!optimizer)
    return out;
  out.push_back({optimizer->name + "/iteration", "iteration", -1});
  out.push_back({optimizer->name + "/learning_rate", "learning_rate", -1});
  // Names given together are stored side by side for each weight.
  auto add = [&](std::initializer_list<const char *> slots) {
    for (unsigned i = 0; i < variables.size(); ++i)
      if (variables[i].trainable)
        for (const char *slot : slots)
          out.push_back({optimizer->name + "/" + flattened(variables[i].path) +
                             "_" + slot,
                         slot, int(i)});
  };
  switch (optimizer->kind) {
  case OptimizerKind::SGD:
    if (optimizer->momentum != 0)
      add({"momentum"});
    break;
  case OptimizerKind::RMSprop:
    add({"velocity"});
    if (optimizer->momentum > 0)
      add({"momentum"});
    if (optimizer->centered)
      add({"average_gradient"});
    break;
  case OptimizerKind::Adam:
    add({"momentum", "velocity"});
    if (optimizer->amsgrad)
      add({"velocity_hat"});
    break;
  }
  return out;
}
