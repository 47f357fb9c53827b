//===- LegacyWeights.cpp - the weights of a model's .h5 file --------------===//

#include "weft/tools/keras/LegacyWeights.h"

#include "weft/compiler/frontends/keras/model/SavedPaths.h"
#include "weft/tools/keras/SavedModel.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace weft::keras {

/// Whether Keras before 3.10 wrote it, which had another order of optimizer
/// variables.
static bool isBefore310(const KerasH5 &file) {
  return file.isOfKeras3() && std::atoi(file.version.c_str() + 2) < 10;
}

/// The variables of a layer, or of a nested model with all its layers, in the
/// order of the file: those that train, then the others.
static std::vector<const Variable *> weightsOf(const Model &model,
                                               unsigned layer) {
  auto isInside = [&](int at) {
    for (; at >= 0; at = model.layers[at].parent)
      if (at == int(layer))
        return true;
    return false;
  };
  std::vector<const Variable *> out;
  for (bool trains : {true, false})
    for (const Variable &variable : model.variables)
      if (variable.trainable == trains && !variable.isSeedState() &&
          isInside(int(variable.owner)))
        out.push_back(&variable);
  return out;
}

std::vector<LegacyPlace> legacyPlaces(const Model &model) {
  std::vector<LegacyPlace> out;
  size_t layer = 0;
  for (unsigned i = 0; i < model.layers.size(); ++i) {
    if (model.layers[i].parent >= 0)
      continue;
    std::vector<const Variable *> weights = weightsOf(model, i);
    for (size_t at = 0; at < weights.size(); ++at)
      out.push_back({weights[at]->path, model.layers[i].name, layer, 0, at,
                     weights.size()});
    layer += weights.empty() ? 0 : 1;
  }
  for (LegacyPlace &place : out)
    place.layers = layer;
  return out;
}

namespace {

std::string countText(size_t count) {
  return std::to_string(count) + (count == 1 ? " weight" : " weights");
}

class Loader {
public:
  Loader(const KerasH5 &file [[clang::lifetimebound]],
         const Model &model [[clang::lifetimebound]],
         const std::string &where [[clang::lifetimebound]])
      : file(file), model(model), where(where) {
    for (const StoredArray &array : file.arrays)
      arrays[array.name] = &array;
    for (const SavedVariable &saved : savedVariables(model))
      places[saved.path] = saved.savedPath;
  }
  weft::Result<std::vector<StoredArray>> load();

private:
  Status layer(const std::string &name, const std::vector<std::string> &saved,
               const std::vector<const Variable *> &weights);
  Status add(const std::string &dataset, const std::string &as,
             const Variable *variable);

  const KerasH5 &file;
  const Model &model;
  const std::string &where;
  std::map<std::string, const StoredArray *> arrays;
  std::map<std::string, std::string> places; ///< in a .keras file, by path
  std::vector<StoredArray> out;
};

Status Loader::add(const std::string &dataset, const std::string &as,
                   const Variable *variable) {
  auto found = arrays.find(dataset);
  if (found == arrays.end())
    return Error{where + ": has no dataset " + dataset +
                 ", which its list of weights names; the file is damaged"};
  if (variable) {
    Shape wanted(variable->shape.begin(), variable->shape.end());
    if (found->second->shape != wanted)
      return Error{where + ": " + dataset + " has the shape " +
                   text(found->second->shape) + ", the variable " +
                   variable->path + " has " + text(wanted) +
                   "; save the model again"};
  }
  out.push_back(found->second->renamed(as));
  return {};
}

Status Loader::layer(const std::string &name,
                     const std::vector<std::string> &saved,
                     const std::vector<const Variable *> &weights) {
  if (saved.size() != weights.size())
    return Error{where + ": holds " + countText(saved.size()) +
                 " of the layer \"" + name + "\", which has " +
                 countText(weights.size()) +
                 " in Keras 3; save the model again with Keras 3"};
  for (size_t i = 0; i < saved.size(); ++i) {
    auto place = places.find(weights[i]->path);
    if (Status ok = add(
            saved[i], place == places.end() ? weights[i]->path : place->second,
            weights[i]);
        !ok)
      return ok;
  }
  return {};
}

weft::Result<std::vector<StoredArray>> Loader::load() {
  std::map<std::string, const std::vector<std::string> *> saved;
  for (const KerasH5::Layer &layer : file.layers)
    saved[layer.name] = &layer.weights;
  static const std::vector<std::string> none;
  for (unsigned i = 0; i < model.layers.size(); ++i) {
    const std::string &name = model.layers[i].name;
    if (model.layers[i].parent >= 0)
      continue;
    auto found = saved.find(name);
    if (Status ok = layer(name, found == saved.end() ? none : *found->second,
                          weightsOf(model, i));
        !ok)
      return ok.error();
  }
  std::map<std::string, std::string> paths; // paths of variables, by place
  for (const SavedPath &one : savedPaths(model, isBefore310(file)))
    if (one.ofOptimizer && !one.isCopy)
      paths[one.savedPath] = one.path;
  for (size_t i = 0; file.isOfKeras3() && i < file.optimizer.size(); ++i) {
    std::string place = "optimizer/vars/" + std::to_string(i);
    if (auto found = paths.find(place); found != paths.end())
      place = places[found->second];
    if (Status ok = add(file.optimizer[i], place, nullptr); !ok)
      return ok.error();
  }
  return std::move(out);
}

} // namespace

weft::Result<std::vector<StoredArray>>
legacyDatasets(const KerasH5 &file, const Model &model,
               const std::string &where) {
  return Loader(file, model, where).load();
}

} // namespace weft::keras
