//===- SavedModel.cpp - weights from files, models to files ---------------===//

#include "weft/tools/weft/SavedModel.h"

#include "weft/compiler/frontends/keras/model/SavedConfig.h"
#include "weft/compiler/frontends/keras/model/SavedPaths.h"
#include "weft/tools/weft/Commands.h"

#include <algorithm>
#include <sys/stat.h>

using namespace weft;
using namespace weft::tool;

static std::vector<SavedVariable> savedVariables(const keras::Model &model) {
  std::vector<SavedVariable> out;
  for (const keras::SavedPath &saved : keras::savedPaths(model))
    out.push_back({saved.path, saved.savedPath, saved.ofOptimizer});
  return out;
}

static bool isOptimizers(const NamedArray &array) {
  return array.name.starts_with("optimizer/vars/");
}

/// Saved before the first step: an iteration of 0 and the rate, no slots.
static bool hasNotTrained(const std::vector<NamedArray> &datasets) {
  return std::all_of(
      datasets.begin(), datasets.end(), [](const NamedArray &array) {
        bool isIteration = array.name == "optimizer/vars/0";
        return !isOptimizers(array) || array.name == "optimizer/vars/1" ||
               (isIteration && array.array.count() == 1 &&
                array.array.at(0) == 0);
      });
}

Result<std::vector<NamedArray>>
weft::tool::savedValues(const std::vector<NamedArray> &datasets,
                        const keras::Model &model, const std::string &where) {
  std::vector<SavedVariable> variables = savedVariables(model);
  auto has = std::count_if(datasets.begin(), datasets.end(), isOptimizers);
  auto wanted = std::count_if(
      variables.begin(), variables.end(),
      [](const SavedVariable &variable) { return variable.optional; });
  if (has != wanted) {
    if (has && wanted && !hasNotTrained(datasets))
      warn(where + ": holds " + std::to_string(has) +
           " optimizer variables, the model's optimizer has " +
           std::to_string(wanted) + "; it starts afresh");
    std::erase_if(variables, [](const SavedVariable &variable) {
      return variable.optional;
    });
  }
  return byVariablePath(datasets, variables, where);
}

/// Arrays by variable path: every variable of the model must be there, but for
/// the optimizer's and for the states of random numbers.
static Status checkComplete(const std::vector<NamedArray> &arrays,
                            const keras::Model &model,
                            const std::string &where) {
  for (const keras::Variable &variable : model.variables) {
    bool has =
        std::any_of(arrays.begin(), arrays.end(), [&](const NamedArray &array) {
          return array.name == variable.path;
        });
    if (!has && !variable.isSeedState())
      return Error{where + ": has no array for the variable " + variable.path +
                   " of shape " + text(variable.shape) +
                   "; the file belongs to another model"};
  }
  return {};
}

Result<std::vector<NamedArray>>
weft::tool::readWeights(const std::string &path, const keras::Model &model) {
  Result<std::string> magic = readStart(path, 4);
  if (!magic)
    return magic.error();
  if (*magic == "\x89HDF") {
    auto datasets = readWeightsH5(path);
    if (!datasets)
      return datasets.error();
    return savedValues(*datasets, model, path);
  }
  Result<ZipReader> zip = ZipReader::open(path);
  if (!zip)
    return zip.error();
  if (!zip->contains("config.json")) {
    auto arrays = readNpz(path);
    if (arrays)
      if (Status complete = checkComplete(*arrays, model, path); !complete)
        return complete.error();
    return arrays;
  }
  auto archive = readKerasArchive(path);
  if (!archive)
    return archive.error();
  return savedValues(archive->weights, model, path);
}

Status weft::tool::saveModel(const std::string &path, const keras::Model &model,
                             const std::vector<NamedArray> &values) {
  std::vector<Hdf5Group> groups;
  for (const keras::SavedGroup &group : keras::savedGroups(model))
    groups.push_back({group.path, group.name});
  KerasArchive archive;
  archive.config = keras::savedConfig(model);
  archive.weights = bySavedPath(values, savedVariables(model));
  return writeKerasArchive(path, archive, groups);
}

Status weft::tool::tryOutput(const std::string &path) {
  struct stat info;
  // Opening a pipe would already tell its reader something.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
      !S_ISDIR(info.st_mode))
    return {};
  auto file = OutputFile::open(path);
  return file ? Status{} : Status{file.error()};
}
