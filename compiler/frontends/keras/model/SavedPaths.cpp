//===- SavedPaths.cpp - where Keras saves each variable -------------------===//

#include "weft/compiler/frontends/keras/model/SavedPaths.h"

#include <algorithm>
#include <iterator>

using namespace weft::keras;

/// The group of each layer: layers/dense_1, or layers/sequential/layers/dense
/// in a nested model; empty if the file has none.
static std::vector<std::string> layerGroups(const Model &model) {
  std::map<std::string, unsigned> used;
  std::vector<std::string> groups;
  for (const ModelLayer &layer : model.layers) {
    bool inModel = layer.parent >= 0;
    const std::string &owner =
        inModel ? model.layers[layer.parent].className : model.className;
    bool isFunction = layer.layer && layer.layer->savedName().empty();
    if (isFunction || (layer.isInput() && owner == "Sequential")) {
      groups.emplace_back();
      continue;
    }
    std::string group =
        (inModel ? groups[layer.parent] + "/layers/" : "layers/") +
        (layer.isModel() ? snakeCase(layer.className)
                         : layer.layer->savedName());
    if (unsigned earlier = used[group]++)
      group += "_" + std::to_string(earlier);
    groups.push_back(group);
  }
  return groups;
}

/// The group of an inner layer within that of its layer: /query_dense for
/// mha/query/kernel. Keras names it after the attribute that holds the layer.
static std::string savedSublayer(const Variable &variable,
                                 const ModelLayer &layer) {
  std::string inside = variable.key.substr(
      layer.path.size(), variable.key.rfind('/') - layer.path.size());
  return inside.empty() ? inside
                        : "/" + layer.layer->savedPath(inside.substr(1));
}

/// Whether an inner layer's variable is also saved among those of the outer
/// layer.
static bool isSavedTwice(const Variable &variable, const ModelLayer &layer,
                         const std::string &inside) {
  std::string name = variable.path.substr(variable.path.rfind('/') + 1);
  return !inside.empty() && layer.layer &&
         llvm::is_contained(layer.layer->facts().alsoSaved, name);
}

namespace {
/// A group of the file that holds variables of the optimizer.
struct OptimizerGroup {
  std::string path; ///< optimizer/vars/
  std::string name;
  size_t begin, end; ///< a range of the model's optimizer variables
};
} // namespace

/// Adds the group of an optimizer, then those of its inner optimizers.
static void addGroups(std::vector<OptimizerGroup> &groups,
                      const std::string &path, const InnerOptimizer &outer) {
  const Optimizer &optimizer = *outer.optimizer;
  groups.push_back({path + "/vars/", optimizer.path(), outer.begin,
                    outer.begin + outer.count});
  for (InnerOptimizer inner :
       optimizer.innerOptimizers(outer.weights, outer.isScaled)) {
    inner.begin += outer.begin;
    addGroups(groups, path + "/" + inner.savedName, inner);
  }
}

static std::vector<OptimizerGroup> optimizerGroups(const Model &model) {
  std::vector<OptimizerGroup> out;
  if (model.optimizer)
    addGroups(out, "optimizer",
              {"", model.optimizer, model.trainedWeights(), false, 0,
               unsigned(model.optimizerVariables().size())});
  return out;
}

/// The variables of a group in the order of the file. Before Keras 3.10,
/// Nadam's u_product stood before its moments.
static std::vector<OptimizerVariable>
inFile(std::vector<OptimizerVariable> variables, bool isOld) {
  if (!isOld)
    return variables;
  auto isSlot = [](const OptimizerVariable &variable) {
    return variable.use == SlotUse::Slot;
  };
  for (auto at = variables.begin(); at != variables.end(); ++at) {
    auto first = at;
    while (at->use == SlotUse::Scalar && first != variables.begin() &&
           isSlot(*std::prev(first)))
      --first;
    std::rotate(first, at, std::next(at));
  }
  return variables;
}

std::vector<SavedPath> weft::keras::savedPaths(const Model &model) {
  return savedPaths(model, isSavedBefore310(model));
}

bool weft::keras::isSavedBefore310(const Model &model) {
  return model.kerasMinor.value_or(10) < 10;
}

std::vector<SavedPath> weft::keras::savedPaths(const Model &model,
                                               bool isBefore310) {
  std::vector<SavedPath> out;
  std::vector<std::string> groups = layerGroups(model);
  for (size_t i = 0; i < groups.size(); ++i) {
    const ModelLayer &layer = model.layers[i];
    // The next position in each group; weights come before statistics.
    std::map<std::string, unsigned> positions;
    auto add = [&](const Variable &variable, const std::string &inside,
                   bool isCopy) {
      std::string vars = groups[i] + inside + "/vars";
      out.push_back({variable.path,
                     vars + "/" + std::to_string(positions[vars]++),
                     /*ofOptimizer=*/false, isCopy});
    };
    auto isOwn = [&](const Variable &variable) {
      return variable.owner == i && !variable.isSeedState() &&
             !variable.isOfAdapter;
    };
    for (const Variable &variable : model.variables)
      if (isOwn(variable) &&
          isSavedTwice(variable, layer, savedSublayer(variable, layer)))
        add(variable, /*inside=*/"", /*isCopy=*/true);
    for (const Variable &variable : model.variables)
      if (isOwn(variable))
        add(variable, savedSublayer(variable, layer), /*isCopy=*/false);
  }
  const std::vector<OptimizerVariable> ofOptimizer = model.optimizerVariables();
  const std::vector<OptimizerGroup> all = optimizerGroups(model);
  for (const OptimizerGroup &group : all) {
    std::vector<OptimizerVariable> variables = inFile(
        {ofOptimizer.begin() + group.begin, ofOptimizer.begin() + group.end},
        isBefore310);
    for (size_t i = 0; i < variables.size(); ++i)
      out.push_back({variables[i].path, group.path + std::to_string(i), true,
                     &group != &all.front()});
  }
  return out;
}

std::vector<SavedGroup> weft::keras::savedGroups(const Model &model) {
  std::vector<SavedGroup> out = {{"vars", model.name}};
  std::vector<std::string> groups = layerGroups(model);
  for (size_t i = 0; i < groups.size(); ++i)
    if (!groups[i].empty())
      out.push_back({groups[i] + "/vars", model.layers[i].name});
  for (const OptimizerGroup &group : optimizerGroups(model))
    out.push_back({group.path.substr(0, group.path.size() - 1), group.name});
  return out;
}
