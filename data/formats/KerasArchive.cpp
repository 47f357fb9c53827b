#include "weft/data/formats/KerasArchive.h"

#include "weft/base/WriteAll.h"

#include <algorithm>
#include <ctime>

namespace weft {

namespace {
/// The version of Keras whose layout is written.
constexpr const char *kerasVersion = "3.15.1";

std::string freshMetadata() {
  char date[32];
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(date, sizeof date, "%Y-%m-%d@%H:%M:%S", &utc);
  return std::string("{\"keras_version\": \"") + kerasVersion +
         "\", \"date_saved\": \"" + date + "\"}";
}

const StoredArray *find(const std::vector<StoredArray> &arrays,
                        const std::string &name) {
  auto it =
      std::find_if(arrays.begin(), arrays.end(), [&](const StoredArray &array) {
        return array.name == name;
      });
  return it == arrays.end() ? nullptr : &*it;
}
} // namespace

static constexpr const char *kWeights = "model.weights.h5";

/// Opens a member as a file of its own, as the HDF5 library opens files only.
static Result<std::vector<StoredArray>> openMember(const ZipReader &zip,
                                                   const ReadLimits &limits) {
  std::string where = zip.path() + ": " + kWeights;
  const ZipReader::Member *member = zip.member(kWeights);
  Result<OpenFile> file = openTemporary(where, member ? member->size : 0);
  if (!file)
    return file.error();
  Status unpacked =
      zip.readInChunks(kWeights, [&](const uint8_t *chunk, size_t size) {
        return writeAll(*file, chunk, size) ? Status{} : temporaryError(where);
      });
  if (!unpacked)
    return unpacked.error();
  return openHdf5(std::move(*file), where, limits);
}

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
  Result<std::vector<StoredArray>> weights = openMember(*zip, limits);
  if (!weights)
    return weights.error();
  archive.weights = std::move(*weights);
  for (const ZipReader::Member &member : zip->members()) {
    const std::string &name = member.name;
    bool isKnown = name == "metadata.json" || name == "config.json" ||
                   name.starts_with("model") || name.starts_with("assets/");
    if (!isKnown)
      archive.unread.push_back(name);
  }
  return archive;
}

/// Writes the datasets to a temporary file.
static Result<OpenFile> writeDatasets(const std::string &where,
                                      const std::vector<Hdf5Group> &groups,
                                      const std::vector<StoredArray> &weights) {
  Result<Hdf5Writer> writer = Hdf5Writer::create(where, groups);
  // The arrays are read even after an error, as other processes wait for this
  // one's part.
  Status read = addAll(weights, writer ? &*writer : nullptr);
  if (!writer)
    return writer.error();
  return read ? writer->finish() : read.error();
}

Status writeKerasArchive(const std::string &path, const KerasArchive &archive,
                         const std::vector<Hdf5Group> &groups,
                         bool writesFile) {
  if (!writesFile)
    return readAll(archive.weights);
  Result<OutputFile> file = openForArrays(path, archive.weights);
  if (!file)
    return file.error();
  std::string metadata =
      archive.metadata.empty() ? freshMetadata() : archive.metadata;
  ZipWriter writer(*file);
  writer.add("metadata.json", {{metadata.data(), metadata.size()}});
  writer.add("config.json", {{archive.config.data(), archive.config.size()}});
  Result<OpenFile> weights = writeDatasets(path, groups, archive.weights);
  if (!weights)
    return weights.error();
  Result<uint64_t> size = sizeOf(*weights, path);
  if (!size)
    return size.error();
  writer.begin(kWeights, *size);
  Status copied =
      readInChunks(*weights, path, [&](const void *bytes, size_t count) {
        writer.write(bytes, count);
      });
  writer.end();
  writer.finish();
  return copied ? file->commit() : copied;
}

Result<OutputFile> prepareWeightsH5(const std::string &path,
                                    const std::vector<Hdf5Group> &groups,
                                    const std::vector<StoredArray> &weights) {
  Result<OutputFile> file = openForArrays(path, weights);
  if (!file)
    return file.error();
  Result<OpenFile> written = writeDatasets(path, groups, weights);
  if (!written)
    return written.error();
  Status copied =
      readInChunks(*written, path, [&](const void *bytes, size_t count) {
        file->write(bytes, count);
      });
  if (!copied)
    return copied.error();
  return file;
}

Status writeWeightsH5(const std::string &path,
                      const std::vector<Hdf5Group> &groups,
                      const std::vector<StoredArray> &weights,
                      bool writesFile) {
  if (!writesFile)
    return readAll(weights);
  Result<OutputFile> file = prepareWeightsH5(path, groups, weights);
  return file ? file->commit() : Status(file.error());
}

Result<std::vector<StoredArray>>
byVariablePath(const std::vector<StoredArray> &weights,
               const std::vector<SavedVariable> &variables,
               const std::string &where) {
  std::vector<StoredArray> out;
  for (const SavedVariable &variable : variables) {
    if (const StoredArray *found = find(weights, variable.savedPath))
      out.push_back(found->renamed(variable.path));
    else if (!variable.optional)
      return Error{where + ": has no dataset " + variable.savedPath +
                   " for the variable " + variable.path +
                   "; the file belongs to another model"};
  }
  return out;
}

std::vector<StoredArray>
bySavedPath(const std::vector<StoredArray> &values,
            const std::vector<SavedVariable> &variables) {
  std::vector<StoredArray> out;
  for (const SavedVariable &variable : variables)
    if (const StoredArray *found = find(values, variable.path))
      out.push_back(found->renamed(variable.savedPath));
  return out;
}

} // namespace weft
