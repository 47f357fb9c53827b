#include "weft/runtime/data/KerasArchive.h"

#include <algorithm>
#include <ctime>

namespace weft {

namespace {
/// The Keras whose layout is written.
constexpr const char *kerasVersion = "3.15.1";

std::string freshMetadata() {
  char date[32];
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(date, sizeof date, "%Y-%m-%d@%H:%M:%S", &parts);
  return std::string("{\"keras_version\": \"") + kerasVersion +
         "\", \"date_saved\": \"" + date + "\"}";
}

const NamedArray *find(const std::vector<NamedArray> &arrays,
                       const std::string &name) {
  auto it =
      std::find_if(arrays.begin(), arrays.end(),
                   [&](const NamedArray &array) { return array.name == name; });
  return it == arrays.end() ? nullptr : &*it;
}
} // namespace

Result<KerasArchive> readKerasArchive(const std::string &path,
                                      const ReadLimits &limits) {
  Result<ZipReader> zip = ZipReader::open(path, limits);
  if (!zip)
    return zip.error();
  KerasArchive archive;
  for (auto [member, text] : {std::pair{"metadata.json", &archive.metadata},
                              std::pair{"config.json", &archive.config}}) {
    Result<std::string> json = zip->readJson(member);
    if (!json)
      return json.error();
    *text = std::move(*json);
  }
  Result<std::vector<uint8_t>> bytes = zip->read("model.weights.h5");
  if (!bytes)
    return bytes.error();
  Result<std::vector<NamedArray>> weights =
      readHdf5(*bytes, path + ": model.weights.h5", limits);
  if (!weights)
    return weights.error();
  archive.weights = std::move(*weights);
  return archive;
}

Status writeKerasArchive(const std::string &path, const KerasArchive &archive,
                         const std::vector<Hdf5Group> &groups) {
  Result<std::vector<uint8_t>> weights = writeHdf5(groups, archive.weights);
  if (!weights)
    return Error{path + ": " + weights.message()};
  Result<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  std::string metadata =
      archive.metadata.empty() ? freshMetadata() : archive.metadata;
  ZipWriter writer(*file);
  writer.add("metadata.json", {{metadata.data(), metadata.size()}});
  writer.add("config.json", {{archive.config.data(), archive.config.size()}});
  writer.add("model.weights.h5", {{weights->data(), weights->size()}});
  writer.finish();
  return file->commit();
}

Result<std::vector<NamedArray>> readWeightsH5(const std::string &path,
                                              const ReadLimits &limits) {
  Result<std::vector<uint8_t>> bytes = readFile(path, limits);
  if (!bytes)
    return bytes.error();
  return readHdf5(*bytes, path, limits);
}

Status writeWeightsH5(const std::string &path,
                      const std::vector<Hdf5Group> &groups,
                      const std::vector<NamedArray> &weights) {
  Result<std::vector<uint8_t>> bytes = writeHdf5(groups, weights);
  if (!bytes)
    return Error{path + ": " + bytes.message()};
  Result<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  file->write(bytes->data(), bytes->size());
  return file->commit();
}

Result<std::vector<NamedArray>>
byVariablePath(const std::vector<NamedArray> &weights,
               const std::vector<SavedVariable> &variables,
               const std::string &where) {
  std::vector<NamedArray> out;
  for (const SavedVariable &variable : variables) {
    if (const NamedArray *found = find(weights, variable.savedPath))
      out.push_back({variable.path, found->array});
    else if (!variable.optional)
      return Error{where + ": has no dataset " + variable.savedPath +
                   " for the variable " + variable.path +
                   "; the file belongs to another model"};
  }
  return out;
}

std::vector<NamedArray>
bySavedPath(const std::vector<NamedArray> &values,
            const std::vector<SavedVariable> &variables) {
  std::vector<NamedArray> out;
  for (const SavedVariable &variable : variables)
    if (const NamedArray *found = find(values, variable.path))
      out.push_back({variable.savedPath, found->array});
  return out;
}

} // namespace weft
