//===- SavedModel.cpp - a Keras model's files -----------------------------===//

#include "weft/tools/keras/SavedModel.h"

#include "weft/compiler/frontends/keras/model/SavedConfig.h"
#include "weft/compiler/frontends/keras/model/SavedPaths.h"
#include "weft/runtime/data/WeightShards.h"

#include <algorithm>

namespace weft::keras {

static std::vector<SavedVariable> placesOf(const Model &model,
                                           bool withCopies) {
  std::vector<SavedVariable> out;
  for (const SavedPath &saved : savedPaths(model))
    if (withCopies || !saved.isCopy)
      out.push_back({saved.path, saved.savedPath, saved.ofOptimizer});
  return out;
}

std::vector<SavedVariable> savedVariables(const Model &model) {
  return placesOf(model, false);
}

std::vector<SavedVariable> savedElsewhere(const Model &model) {
  std::vector<SavedPath> here = savedPaths(model),
                         there = savedPaths(model, !isSavedBefore310(model));
  auto placeOf = [](const std::vector<SavedPath> &places,
                    const SavedPath &variable) {
    auto found =
        std::find_if(places.begin(), places.end(), [&](const SavedPath &one) {
          return one.path == variable.path && !one.isCopy;
        });
    return found == places.end() ? "" : found->savedPath;
  };
  std::vector<SavedVariable> out;
  for (const SavedPath &saved : there)
    if (!saved.isCopy && placeOf(here, saved) != saved.savedPath)
      out.push_back({saved.path, saved.savedPath, saved.ofOptimizer});
  return out;
}

static std::vector<Hdf5Group> groupsOf(const Model &model) {
  std::vector<Hdf5Group> groups;
  for (const SavedGroup &group : savedGroups(model))
    groups.push_back({group.path, group.name});
  return groups;
}

Status saveModel(const std::string &path, const Model &model,
                 const std::vector<StoredArray> &values, bool writesFile) {
  KerasArchive archive;
  archive.metadata = model.metadata;
  archive.config = savedConfig(model);
  archive.weights = bySavedPath(values, placesOf(model, true));
  return writeKerasArchive(path, archive, groupsOf(model), writesFile);
}

Status saveModelWeights(const std::string &path, const Model &model,
                        const std::vector<StoredArray> &values,
                        uint64_t mostBytes, bool writesFiles) {
  return writeKerasWeights(path, groupsOf(model),
                           bySavedPath(values, placesOf(model, true)),
                           mostBytes, writesFiles);
}

} // namespace weft::keras
