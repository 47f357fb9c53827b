#include "weft/data/formats/WeightShards.h"

#include "weft/data/formats/KerasArchive.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace weft {

using nlohmann::json;

static constexpr std::string_view kEnding = ".weights.json";

/// The name of a shard: m_00001.weights.h5 of m.weights.json.
static std::string shardName(const std::string &path, size_t index) {
  std::string base = path.substr(path.rfind('/') + 1);
  if (base.ends_with(kEnding))
    base.resize(base.size() - kEnding.size());
  char number[32];
  std::snprintf(number, sizeof number, "_%05zu.weights.h5", index);
  return base + number;
}

static std::string beside(const std::string &path, const std::string &name) {
  return path.substr(0, path.rfind('/') + 1) + name;
}

/// The files that the map names, each once.
static Result<std::set<std::string>> shardsOf(const std::string &path,
                                              const ReadLimits &limits) {
  Result<std::vector<uint8_t>> bytes = readFile(path, {limits.json});
  if (!bytes)
    return bytes.error();
  json said = json::parse(bytes->begin(), bytes->end(), nullptr, false);
  if (!said.is_object() || !said.contains("weight_map") ||
      !said["weight_map"].is_object())
    return Error{path + ": has no \"weight_map\"; save the weights again with "
                        "Keras or Weft"};
  for (const auto &[key, value] : said.items())
    if (key != "weight_map" && key != "metadata")
      return Error{path + ": has an unknown key \"" + key +
                   "\"; save the weights again with Keras or Weft"};
  std::set<std::string> out;
  for (const auto &[group, names] : said["weight_map"].items()) {
    // Pointers to values of the JSON, as deeply nested ones can neither be
    // copied nor printed.
    std::vector<const json *> listed;
    for (size_t i = 0; names.is_array() && i < names.size(); ++i)
      listed.push_back(&names[i]);
    if (!names.is_array())
      listed.push_back(&names);
    for (const json *name : listed) {
      std::string text = name->is_string() ? name->get<std::string>() : "";
      if (text.empty() || text.find('/') != std::string::npos)
        return Error{path + ": " + group + ": \"" + text +
                     "\" is no name of a file beside it; save the weights "
                     "again"};
      out.insert(text);
    }
  }
  return out;
}

Status visitWeightShards(const std::string &path, const VisitShard &visit,
                         const ReadLimits &limits) {
  Result<std::set<std::string>> shards = shardsOf(path, limits);
  if (!shards)
    return shards.error();
  for (const std::string &name : *shards) {
    Result<std::vector<StoredArray>> shard =
        openHdf5(beside(path, name), limits);
    if (!shard)
      return shard.error();
    if (Status ok = visit(*shard); !ok)
      return ok;
  }
  return {};
}

static std::string groupOf(const std::string &dataset) {
  return dataset.substr(0, dataset.rfind('/'));
}

/// The groups that have an array in this file.
static std::vector<Hdf5Group>
usedGroups(const std::vector<Hdf5Group> &groups,
           const std::vector<StoredArray> &weights) {
  std::set<std::string> used;
  for (const StoredArray &array : weights)
    used.insert(groupOf(array.name));
  std::vector<Hdf5Group> out;
  for (const Hdf5Group &group : groups)
    if (used.contains(group.path))
      out.push_back(group);
  return out;
}

namespace {
/// Writes shards, which all appear, or none.
class ShardWriter {
public:
  ShardWriter(const std::string &path [[clang::lifetimebound]],
              const std::vector<Hdf5Group> &groups [[clang::lifetimebound]],
              bool writesFiles)
      : path(path), groups(groups), writesFiles(writesFiles) {}

  /// Writes the arrays to the next file. Other processes read the weights
  /// along: after an error they are read only.
  void add(const std::vector<StoredArray> &shard);
  /// Lets all files appear, the index last.
  Status commit(uint64_t totalBytes);

private:
  /// The groups' files, as Keras writes them.
  json index(uint64_t totalBytes) const;

  const std::string &path;
  const std::vector<Hdf5Group> &groups;
  bool writesFiles;
  std::map<std::string, std::vector<std::string>> filesOf; ///< indexed by group
  std::vector<OutputFile> files;
  size_t count = 0;
  Status all;
};
} // namespace

void ShardWriter::add(const std::vector<StoredArray> &shard) {
  std::string name = shardName(path, count++), place = beside(path, name);
  for (const StoredArray &array : shard) {
    std::vector<std::string> &names = filesOf["/" + groupOf(array.name)];
    if (names.empty() || names.back() != name)
      names.push_back(name);
  }
  if (!writesFiles || !all) {
    Status read = writeWeightsH5(place, {}, shard, /*writesFile=*/false);
    all = all ? read : all;
    return;
  }
  auto file = prepareWeightsH5(place, usedGroups(groups, shard), shard);
  if (file)
    files.push_back(std::move(*file));
  else
    all = file.error();
}

json ShardWriter::index(uint64_t totalBytes) const {
  json said = {{"metadata", {{"total_size", totalBytes}}},
               {"weight_map", json::object()}};
  for (const auto &[group, names] : filesOf)
    said["weight_map"][group] =
        names.size() == 1 ? json(names[0]) : json(names);
  return said;
}

Status ShardWriter::commit(uint64_t totalBytes) {
  if (!all || !writesFiles)
    return all;
  Result<OutputFile> last = OutputFile::open(path);
  if (!last)
    return last.error();
  last->write(index(totalBytes).dump(4));
  for (OutputFile &file : files)
    if (Status written = file.commit(); !written)
      return written;
  return last->commit();
}

Status writeWeightShards(const std::string &path,
                         const std::vector<Hdf5Group> &groups,
                         const std::vector<StoredArray> &weights,
                         uint64_t mostBytes, bool writesFiles) {
  for (const StoredArray &array : weights)
    if (uint64_t bytes = array.bytes(); bytes > mostBytes)
      return Error{path + ": " + array.name + " has " + std::to_string(bytes) +
                   " bytes, more than a file of " +
                   Option{"max_shard_size", std::to_string(mostBytes)} +
                   "; raise it"};
  ShardWriter writer(path, groups, writesFiles);
  std::vector<StoredArray> shard;
  uint64_t inShard = 0, total = 0;
  for (const StoredArray &array : weights) {
    uint64_t bytes = array.bytes();
    if (!shard.empty() && inShard + bytes > mostBytes) {
      writer.add(shard);
      shard.clear();
      inShard = 0;
    }
    shard.push_back(array);
    inShard += bytes;
    total += bytes;
  }
  writer.add(shard);
  return writer.commit(total);
}

Status writeKerasWeights(const std::string &path,
                         const std::vector<Hdf5Group> &groups,
                         const std::vector<StoredArray> &weights,
                         uint64_t mostBytes, bool writesFiles) {
  return path.ends_with(kEnding)
             ? writeWeightShards(path, groups, weights, mostBytes, writesFiles)
             : writeWeightsH5(path, groups, weights, writesFiles);
}

} // namespace weft
