//===- SavedWeights.cpp - weights from and to Keras' files ----------------===//

#include "weft/tools/weft/SavedWeights.h"

#include "weft/tools/weft/Commands.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/stat.h>

using namespace weft;
using namespace weft::tool;

static constexpr std::string_view kOfOptimizer = "optimizer/vars/";

static bool isOptimizers(const NamedArray &array) {
  return array.name.starts_with(kOfOptimizer);
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
                        std::vector<SavedVariable> variables,
                        const std::string &where) {
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

/// Empty where the port does not say.
static std::string placeOf(const Port &port) {
  return metadataText(port, "saved");
}

static std::vector<SavedVariable> savedVariables(const ModelState &state) {
  std::vector<SavedVariable> out;
  for (const ModelState::Variable &variable : state.variables())
    if (std::string place = placeOf(variable.port); !place.empty())
      out.push_back(
          {variable.port.name, place, place.starts_with(kOfOptimizer)});
  return out;
}

/// Arrays by variable path: every weight must be there.
static Status checkComplete(const std::vector<NamedArray> &arrays,
                            const ModelState &state, const std::string &where) {
  for (const ModelState::Variable &variable : state.variables()) {
    const Port &port = variable.port;
    bool has =
        std::any_of(arrays.begin(), arrays.end(), [&](const NamedArray &array) {
          return array.name == port.name;
        });
    if (!has && port.role == Role::Weight)
      return Error{where + ": has no array for the variable " + port.name +
                   " of shape " + text(port.shape) +
                   "; the file belongs to another model"};
  }
  return {};
}

static Result<std::vector<NamedArray>> readDatasets(const std::string &path,
                                                    const ModelState &state) {
  Result<std::string> magic = readStart(path, 4);
  if (!magic)
    return magic.error();
  if (*magic == "\x89HDF") {
    auto datasets = readWeightsH5(path);
    if (!datasets)
      return datasets.error();
    return savedValues(*datasets, savedVariables(state), path);
  }
  Result<ZipReader> zip = ZipReader::open(path);
  if (!zip)
    return zip.error();
  if (!zip->contains("config.json"))
    return readNpz(path);
  auto archive = readKerasArchive(path);
  if (!archive)
    return archive.error();
  return savedValues(archive->weights, savedVariables(state), path);
}

Result<std::vector<NamedArray>>
weft::tool::readWeights(const std::string &path, const ModelState &state) {
  auto arrays = readDatasets(path, state);
  if (arrays)
    if (Status complete = checkComplete(*arrays, state, path); !complete)
      return complete.error();
  return arrays;
}

static Status checkPlaces(const ModelState &state) {
  for (const ModelState::Variable &variable : state.variables())
    if (variable.port.role == Role::Weight && placeOf(variable.port).empty())
      return Error{"variable " + variable.port.name +
                   ": its layer has a way of its own to save it; write the "
                   "values with --save-weights w.npz"};
  return {};
}

static std::vector<Hdf5Group> groupsOf(const std::vector<NamedArray> &weights) {
  std::set<std::string> paths;
  for (const NamedArray &array : weights)
    paths.insert(array.name.substr(0, array.name.rfind('/')));
  std::vector<Hdf5Group> groups;
  for (const std::string &group : paths)
    groups.push_back({group, ""});
  return groups;
}

Status weft::tool::saveArchiveLike(const std::string &path,
                                   const std::string &from,
                                   const ModelState &state,
                                   const std::vector<NamedArray> &values) {
  if (Status known = checkPlaces(state); !known)
    return known;
  auto archive = readKerasArchive(from);
  if (!archive)
    return archive.error();
  std::vector<NamedArray> fresh = bySavedPath(values, savedVariables(state));
  auto isReplaced = [&](const NamedArray &old) {
    // Those of optimizers inside another are copies.
    return old.name.starts_with("optimizer/") ||
           std::any_of(
               fresh.begin(), fresh.end(),
               [&](const NamedArray &array) { return array.name == old.name; });
  };
  std::erase_if(archive->weights, isReplaced);
  archive->weights.insert(archive->weights.end(), fresh.begin(), fresh.end());
  return writeKerasArchive(path, *archive, groupsOf(archive->weights));
}

Status weft::tool::saveWeightsByPlace(const std::string &path,
                                      const ModelState &state,
                                      const std::vector<NamedArray> &values) {
  if (Status known = checkPlaces(state); !known)
    return known;
  auto weights = bySavedPath(values, savedVariables(state));
  return writeWeightsH5(path, groupsOf(weights), weights);
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
