//===- SavedPaths.cpp - where Keras saves each variable -------------------===//

#include "weft/compiler/frontends/keras/SavedPaths.h"

using namespace weft::keras;

static bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
static bool isLower(char c) { return c >= 'a' && c <= 'z'; }

std::string weft::keras::snakeCase(std::string_view className) {
  std::string out;
  for (size_t i = 0; i < className.size(); ++i) {
    char c = className[i];
    bool wordStarts = i > 0 && isUpper(c) &&
                      (isLower(className[i - 1]) ||
                       (i + 1 < className.size() && isLower(className[i + 1])));
    if (wordStarts)
      out += '_';
    out += isUpper(c) ? char(c - 'A' + 'a') : c;
  }
  return out;
}

/// layers/dense_1 for each layer, layers/sequential/layers/dense for one of a
/// nested model; empty where the file has no group.
static std::vector<std::string> layerGroups(const Model &model) {
  std::map<std::string, unsigned> used;
  std::vector<std::string> groups;
  for (const Layer &layer : model.layers) {
    bool inModel = layer.parent >= 0;
    const std::string &owner =
        inModel ? model.layers[layer.parent].className : model.className;
    if (layer.kind == LayerKind::Input && owner == "Sequential") {
      groups.emplace_back();
      continue;
    }
    std::string group =
        (inModel ? groups[layer.parent] + "/layers/" : "layers/") +
        snakeCase(layer.className);
    if (unsigned earlier = used[group]++)
      group += "_" + std::to_string(earlier);
    groups.push_back(group);
  }
  return groups;
}

std::vector<SavedPath> weft::keras::savedPaths(const Model &model) {
  std::vector<SavedPath> out;
  std::vector<std::string> groups = layerGroups(model);
  for (size_t i = 0; i < groups.size(); ++i) {
    unsigned position = 0;
    for (int variable : {model.layers[i].kernel, model.layers[i].bias})
      if (variable >= 0)
        out.push_back({model.variables[variable].path,
                       groups[i] + "/vars/" + std::to_string(position++)});
  }
  unsigned position = 0;
  for (const OptimizerVariable &variable : model.optimizerVariables())
    out.push_back(
        {variable.path, "optimizer/vars/" + std::to_string(position++), true});
  return out;
}

std::vector<SavedGroup> weft::keras::savedGroups(const Model &model) {
  std::vector<SavedGroup> out = {{"vars", model.name}};
  std::vector<std::string> groups = layerGroups(model);
  for (size_t i = 0; i < groups.size(); ++i)
    if (!groups[i].empty())
      out.push_back({groups[i] + "/vars", model.layers[i].name});
  if (model.optimizer)
    out.push_back({"optimizer/vars", model.optimizer->name});
  return out;
}
