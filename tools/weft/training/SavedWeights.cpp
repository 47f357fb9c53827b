//===- SavedWeights.cpp - weights from and to Keras' files ----------------===//

#include "weft/tools/weft/training/SavedWeights.h"

#include "weft/base/ClosestName.h"
#include "weft/data/formats/Safetensors.h"
#include "weft/data/formats/WeightShards.h"
#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/training/LayerListFile.h"

#include <algorithm>
#include <set>
#include <sys/stat.h>

using namespace weft;
using namespace weft::tool;

static constexpr std::string_view kOfOptimizer = "optimizer/vars/";

static bool isOptimizers(const StoredArray &array) {
  return array.name.starts_with(kOfOptimizer);
}

/// Whether the file was saved before the first step: the iteration of its
/// optimizer, which is the first variable of each, is 0. Keras writes the others
/// only of an optimizer that is built, and they have their initial values.
static bool hasNotTrained(const std::vector<StoredArray> &datasets) {
  return std::any_of(datasets.begin(), datasets.end(),
                     [](const StoredArray &array) {
                       if (array.name != "optimizer/vars/0")
                         return false;
                       Result<Array> value = array.read();
                       return value && value->count() == 1 && value->at(0) == 0;
                     });
}

Result<std::vector<StoredArray>>
weft::tool::savedValues(const std::vector<StoredArray> &datasets,
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

Status weft::tool::checkQuantized(const StoredArray &value, ElementType type,
                                  const std::string &where) {
  bool isByte =
      value.type == ElementType::Int8 || value.type == ElementType::UInt8;
  if (!isByte || !isFloat(type))
    return {};
  return Error{where + ": holds " + std::string(name(value.type)) +
               " numbers of the variable " + value.name + ", which has " +
               std::string(name(type)) +
               " in the model: they were quantized, and the model does not say "
               "how, as Keras forgets it for layers inside of others; give the "
               "weights as they were before model.quantize()"};
}

void weft::tool::warnOfMembers(const std::string &path,
                               const KerasArchive &archive) {
  if (!archive.unread.empty())
    warn(path + ": " + someOf(archive.unread) +
         ": not read, as Keras' archives have no such member");
}

static std::vector<SavedVariable> savedVariables(const ModelState &state) {
  std::vector<SavedVariable> out;
  for (const ModelState::Variable &variable : state.variables())
    if (const std::string &place = variable.port.facts.saved; !place.empty())
      out.push_back(
          {variable.port.name, place, place.starts_with(kOfOptimizer)});
  return out;
}

namespace {
/// The datasets of variables in a file of Keras from before 3.10 or since,
/// which saved some optimizer variables in another order. The file does not
/// tell its version, but its shapes show the order.
class PlacesInFile {
public:
  explicit PlacesInFile(const ModelState &state)
      : here(savedVariables(state)), elsewhere(here) {
    for (SavedVariable &variable : elsewhere)
      for (const ModelState::Variable &one : state.variables())
        if (one.port.name == variable.path) {
          shapes.push_back(one.port.shape);
          if (const std::string &other = one.port.facts.savedElsewhere;
              !other.empty())
            variable.savedPath = other;
        }
  }
  /// Compares the datasets of a file, or of one of its shards.
  void see(const std::vector<StoredArray> &datasets) {
    for (const StoredArray &dataset : datasets)
      for (size_t i = 0; i < here.size(); ++i) {
        isHere &= fits(dataset, here[i], shapes[i]);
        isElsewhere &= fits(dataset, elsewhere[i], shapes[i]);
      }
  }
  const std::vector<SavedVariable> &chosen() const {
    return !isHere && isElsewhere ? elsewhere : here;
  }

private:
  static bool fits(const StoredArray &dataset, const SavedVariable &variable,
                   const Shape &shape) {
    return dataset.name != variable.savedPath || dataset.shape == shape;
  }
  std::vector<SavedVariable> here, elsewhere;
  std::vector<Shape> shapes; ///< shapes of the variables
  bool isHere = true, isElsewhere = true;
};

/// Reads a file of weights array by array.
class WeightReader {
public:
  WeightReader(const std::string &path [[clang::lifetimebound]],
               const ModelState &state [[clang::lifetimebound]],
               const VisitWeights &visit [[clang::lifetimebound]])
      : path(path), state(state), visit(visit) {}

  /// Reads the file; its content determines its kind, or the name
  /// .weights.json.
  Status read() {
    Result<std::string> start = readStart(path, 9);
    if (!start)
      return start.error();
    Status done;
    if (start->starts_with("\x89HDF"))
      done = readHdf5();
    else if (path.ends_with(".weights.json"))
      done = readShards();
    else if (startsLikeSafetensors(*start))
      done = readSafetensors();
    else
      done = readZip();
    if (done)
      warnOfUnread();
    return done ? checkComplete() : done;
  }

private:
  bool trains() const {
    return std::ranges::any_of(state.variables(),
                               [](const ModelState::Variable &variable) {
                                 return variable.port.role == Role::Slot;
                               });
  }
  /// Warns of arrays that belong to no variable. A program that does not train
  /// lacks the optimizer's and the random states, so that none is named there.
  void warnOfUnread() const {
    if (trains() && !unread.empty())
      warn(path + ": " + someOf(unread) +
           ": not read, as the model has no such variable");
  }

  void noteUnread(const std::vector<StoredArray> &datasets,
                  const std::vector<SavedVariable> &places) {
    for (const StoredArray &dataset : datasets)
      if (!isOptimizers(dataset) &&
          std::ranges::none_of(places, [&](const SavedVariable &variable) {
            return variable.savedPath == dataset.name;
          }))
        unread.push_back(dataset.name);
  }

  Status give(const StoredArray &array) {
    if (!state.buffer(array.name))
      unread.push_back(array.name);
    for (const ModelState::Variable &variable : state.variables())
      if (isKeras && variable.port.name == array.name)
        if (Status fits = checkQuantized(array, variable.port.type, path);
            !fits)
          return fits;
    given.insert(array.name);
    return visit(array);
  }

  Status giveAll(const std::vector<StoredArray> &arrays) {
    for (const StoredArray &array : arrays)
      if (Status ok = give(array); !ok)
        return ok;
    return {};
  }

  Status readDatasets(const Result<std::vector<StoredArray>> &datasets) {
    if (!datasets)
      return datasets.error();
    isKeras = true;
    PlacesInFile places(state);
    places.see(*datasets);
    noteUnread(*datasets, places.chosen());
    auto values = savedValues(*datasets, places.chosen(), path);
    return values ? giveAll(*values) : Status{values.error()};
  }

  /// Reads a .weights.h5 file, or one of the old form with a list of layers.
  Status readHdf5() {
    Result<KerasH5> file = readLayersH5(path);
    if (!file)
      return file.error();
    if (file->layers.empty())
      return readDatasets(std::move(file->arrays));
    if (file->hasOlderOptimizer() && trains())
      warn(path + ": holds the state of an optimizer of Keras 2, which Keras 3 "
                  "does not take over; it starts afresh");
    isByPosition = true;
    LayerListFile legacy(*file, state, path);
    if (Status placed = legacy.place(); !placed)
      return placed;
    for (const std::string &name : legacy.unlisted())
      unread.push_back(name);
    Status read = readDatasets(legacy.datasets);
    return read ? giveAll(legacy.adapters) : read;
  }

  Status readZip() {
    Result<ZipReader> zip = ZipReader::open(path);
    if (!zip)
      return zip.error();
    if (zip->contains("config.json")) {
      auto archive = readKerasArchive(path);
      if (!archive)
        return archive.error();
      warnOfMembers(path, *archive);
      return readDatasets(archive->weights);
    }
    auto arrays = openNpz(path);
    return arrays ? giveAll(*arrays) : Status{arrays.error()};
  }

  Status readSafetensors() {
    auto tensors = openSafetensors(path);
    if (!tensors)
      return tensors.error();
    // Tensors of another model, or of another optimizer, are left out.
    std::erase_if(*tensors, [&](const StoredArray &tensor) {
      bool isOther = !state.buffer(tensor.name);
      if (isOther)
        unread.push_back(tensor.name);
      return isOther;
    });
    return giveAll(*tensors);
  }

  Status readShards() {
    isKeras = true;
    PlacesInFile places(state);
    Status seen =
        visitWeightShards(path, [&](const std::vector<StoredArray> &shard) {
          places.see(shard);
          return Status{};
        });
    if (!seen)
      return seen;
    return visitWeightShards(path, [&](std::vector<StoredArray> &shard) {
      noteUnread(shard, places.chosen());
      for (const StoredArray &dataset : shard)
        for (const SavedVariable &variable : places.chosen())
          if (variable.savedPath == dataset.name)
            if (Status ok = give(dataset.renamed(variable.path)); !ok)
              return ok;
      return Status{};
    });
  }

  /// Checks that every weight was found that a file of this kind holds.
  Status checkComplete() const {
    for (const ModelState::Variable &variable : state.variables()) {
      const Port &port = variable.port;
      bool isLeftOut = isKeras && !port.facts.unsaved.empty();
      // As in Keras, such a file lacks the states of seed generators.
      if (isLeftOut || (isByPosition && port.facts.h5.empty()))
        continue;
      if (port.role == Role::Weight && !given.contains(port.name))
        return Error{path + ": has no array for the variable " + port.name +
                     " of shape " + text(port.shape) +
                     "; the file belongs to another model"};
    }
    return {};
  }

  const std::string &path;
  const ModelState &state;
  const VisitWeights &visit;
  std::set<std::string> given;
  std::vector<std::string> unread; ///< arrays that belong to no variable
  bool isKeras = false;            ///< whether the file has Keras' datasets
  bool isByPosition = false;       ///< whether the file has a list of layers
};
} // namespace

Status weft::tool::visitWeights(const std::string &path,
                                const ModelState &state,
                                const VisitWeights &visit) {
  return WeightReader(path, state, visit).read();
}

static Status checkPlaces(const ModelState &state) {
  for (const ModelState::Variable &variable : state.variables())
    if (variable.port.role == Role::Weight && variable.port.facts.saved.empty())
      return Error{"variable " + variable.port.name +
                   ": its layer has a way of its own to save it; write the "
                   "values with --save-weights w.npz"};
  return {};
}

static std::vector<Hdf5Group>
groupsOf(const std::vector<StoredArray> &weights) {
  std::set<std::string> paths;
  for (const StoredArray &array : weights)
    paths.insert(array.name.substr(0, array.name.rfind('/')));
  std::vector<Hdf5Group> groups;
  for (const std::string &group : paths)
    groups.push_back({group, ""});
  return groups;
}

Status weft::tool::saveArchiveLike(const std::string &path,
                                   const std::string &from,
                                   const ModelState &state, bool writesFile) {
  if (Status known = checkPlaces(state); !known)
    return known;
  auto archive = readKerasArchive(from);
  if (!archive)
    return archive.error();
  std::vector<StoredArray> fresh =
      bySavedPath(state.stored(), savedVariables(state));
  auto isReplaced = [&](const StoredArray &old) {
    // Whether a dataset of the old file is the model's: variables of inner
    // optimizers are copies.
    return old.name.starts_with("optimizer/") ||
           std::any_of(fresh.begin(), fresh.end(),
                       [&](const StoredArray &array) {
                         return array.name == old.name;
                       });
  };
  std::erase_if(archive->weights, isReplaced);
  archive->weights.insert(archive->weights.end(), fresh.begin(), fresh.end());
  return writeKerasArchive(path, *archive, groupsOf(archive->weights),
                           writesFile);
}

Status weft::tool::saveWeightsByPlace(const std::string &path,
                                      const ModelState &state,
                                      uint64_t mostBytes, bool writesFile) {
  if (Status known = checkPlaces(state); !known)
    return known;
  auto weights = bySavedPath(state.stored(), savedVariables(state));
  return writeKerasWeights(path, groupsOf(weights), weights, mostBytes,
                           writesFile);
}

/// The tensors of a file, and the values in the order in which they are
/// written.
static Result<std::vector<TensorInfo>>
tensorsOf(const std::string &path, std::vector<StoredArray> &values) {
  std::vector<TensorInfo> tensors;
  for (const StoredArray &value : values) {
    if (!hasSafetensorsType(value.type))
      return Error{path + ": " + value.name + " is " +
                   std::string(name(value.type)) +
                   ", which .safetensors files have no type for; name an .npz"};
    tensors.push_back({value.name, value.type, value.shape, 0});
  }
  auto isWider = [](const auto &a, const auto &b) {
    return byteWidth(a.type) > byteWidth(b.type);
  };
  // Sorted by width, each tensor begins at a multiple of its width.
  std::stable_sort(tensors.begin(), tensors.end(), isWider);
  std::stable_sort(values.begin(), values.end(), isWider);
  return tensors;
}

static Status writeTensors(const std::string &path,
                           std::vector<StoredArray> values, bool writesFile) {
  Result<std::vector<TensorInfo>> tensors = tensorsOf(path, values);
  if (!tensors)
    return tensors.error();
  if (!writesFile)
    return readAll(values);
  Result<OutputFile> file = openForArrays(path, values);
  if (!file)
    return file.error();
  SafetensorsWriter writer(*file, *tensors);
  for (const StoredArray &value : values) {
    Status read =
        value.visitBlocks([&](const ArrayBlock &, const Array &values) {
          writer.add(values.bytes.data(), values.bytes.size());
          return Status();
        });
    if (!read)
      return read;
  }
  return file->commit();
}

Status weft::tool::writeValues(const std::string &path, const ModelState &state,
                               bool writesFile) {
  return path.ends_with(".safetensors")
             ? writeTensors(path, state.stored(), writesFile)
             : writeNpz(path, state.stored(), writesFile);
}

bool weft::tool::holdsKerasWeights(const std::string &path) {
  return path.ends_with(".weights.h5") || path.ends_with(".weights.json");
}

Status weft::tool::tryOutput(const std::string &path) {
  struct stat info;
  // Special files are not opened, as opening a pipe affects its reader.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
      !S_ISDIR(info.st_mode))
    return {};
  auto file = OutputFile::open(path);
  return file ? Status{} : Status{file.error()};
}
