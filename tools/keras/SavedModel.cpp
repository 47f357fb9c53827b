//===- SavedModel.cpp - a Keras model's files -----------------------------===//

#include "weft/tools/keras/SavedModel.h"

#include "weft/compiler/frontends/keras/model/SavedConfig.h"
#include "weft/compiler/frontends/keras/model/SavedPaths.h"
#include "weft/data/formats/WeightShards.h"
#include "weft/tools/keras/QuantizedSum.h"

#include <algorithm>
#include <memory>
#include <optional>

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

namespace {
/// Reads a weight with its adapter: the weight's elements plus those of
/// scale * a . b, in which a weight of shape (..., n) is a matrix of n columns.
class Merged {
public:
  Merged(StoredArray weight, StoredArray a, StoredArray b, double scale)
      : weight(std::move(weight)), a(std::move(a)), b(std::move(b)),
        scale(float(scale)) {}

  weft::Result<Array> read(const ArrayBlock &block) {
    for (auto [from, to] : {std::pair{&a, &first}, std::pair{&b, &second}})
      if (!*to) {
        weft::Result<Array> values = from->readByBlocks();
        if (!values)
          return values.error();
        *to = std::move(*values);
      }
    weft::Result<Array> read = weight.readBlock(block);
    if (!read)
      return read.error();
    Array out = convert(*read, ElementType::Float32);
    for (int64_t i = 0; i < out.count(); ++i)
      out.data<float>()[i] +=
          scale * productOf(*first, *second, int64_t(block.first) + i);
    return convert(out, weight.type);
  }

private:
  StoredArray weight, a, b;
  float scale;
  std::optional<Array> first, second;
};
} // namespace

/// The values of the model, in which weights contain their adapters, as in
/// Keras' files.
static std::vector<StoredArray> merged(std::vector<StoredArray> values,
                                       const Model &model) {
  auto find = [&](const std::string &path) {
    return std::find_if(
        values.begin(), values.end(),
        [&](const StoredArray &one) { return one.name == path; });
  };
  for (const Variable &variable : model.variables) {
    if (!variable.adapter)
      continue;
    auto weight = find(variable.path), a = find(variable.adapter->a),
         b = find(variable.adapter->b);
    if (weight == values.end() || a == values.end() || b == values.end())
      continue;
    if (const auto &form = variable.adapter->integers) {
      auto scales = find(form->scale), zeros = find(form->zero);
      if (scales != values.end())
        quantizeAgain(*weight, *scales,
                      zeros == values.end() ? nullptr : &*zeros, *a, *b,
                      *variable.adapter);
      continue;
    }
    auto reader =
        std::make_shared<Merged>(*weight, *a, *b, variable.adapter->scale);
    weight->readBlock = [reader](const ArrayBlock &block) {
      return reader->read(block);
    };
  }
  return values;
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
  archive.weights = bySavedPath(merged(values, model), placesOf(model, true));
  return writeKerasArchive(path, archive, groupsOf(model), writesFile);
}

Status saveModelWeights(const std::string &path, const Model &model,
                        const std::vector<StoredArray> &values,
                        uint64_t mostBytes, bool writesFiles) {
  return writeKerasWeights(
      path, groupsOf(model),
      bySavedPath(merged(values, model), placesOf(model, true)), mostBytes,
      writesFiles);
}

} // namespace weft::keras
