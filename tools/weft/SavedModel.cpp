//===- SavedModel.cpp - weights from files, models to files ---------------===//

#include "weft/tools/weft/SavedModel.h"

#include "weft/compiler/frontends/keras/SavedPaths.h"

#include <algorithm>
#include <cstdio>
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

Result<std::vector<NamedArray>>
weft::tool::savedValues(const std::vector<NamedArray> &datasets,
                        const keras::Model &model, const std::string &where) {
  std::vector<SavedVariable> variables = savedVariables(model);
  auto has = std::count_if(datasets.begin(), datasets.end(), isOptimizers);
  auto wanted = std::count_if(
      variables.begin(), variables.end(),
      [](const SavedVariable &variable) { return variable.optional; });
  if (has != wanted) {
    if (has && wanted)
      std::fprintf(stderr,
                   "weft: warning: %s: holds %lld optimizer variables, the "
                   "model's optimizer has %lld; it starts afresh\n",
                   where.c_str(), static_cast<long long>(has),
                   static_cast<long long>(wanted));
    std::erase_if(variables, [](const SavedVariable &variable) {
      return variable.optional;
    });
  }
  return byVariablePath(datasets, variables, where);
}

Result<std::vector<NamedArray>>
weft::tool::readWeights(const std::string &path, const keras::Model &model) {
  char magic[4] = {};
  if (std::FILE *file = std::fopen(path.c_str(), "rb")) {
    size_t read = std::fread(magic, 1, sizeof magic, file);
    std::fclose(file);
    if (read == 4 && std::string_view(magic, 4) == "\x89HDF") {
      auto datasets = readWeightsH5(path);
      if (!datasets)
        return datasets.error();
      return savedValues(*datasets, model, path);
    }
  }
  Result<ZipReader> zip = ZipReader::open(path);
  if (!zip)
    return zip.error();
  if (!zip->contains("config.json"))
    return readNpz(path);
  auto archive = readKerasArchive(path);
  if (!archive)
    return archive.error();
  return savedValues(archive->weights, model, path);
}

Status weft::tool::saveModel(const std::string &path,
                             const keras::Model &model,
                             const std::vector<NamedArray> &values) {
  std::vector<Hdf5Group> groups;
  for (const keras::SavedGroup &group : keras::savedGroups(model))
    groups.push_back({group.path, group.name});
  KerasArchive archive;
  archive.config = model.json;
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
