//===- LayerListFile.cpp - .h5 files with a list of layers ----------------===//

#include "weft/tools/weft/training/LayerListFile.h"

#include <algorithm>

using namespace weft;
using namespace weft::tool;

static std::optional<LayerListFile::Place> placeOf(const Port &port) {
  const std::vector<int64_t> &at = port.facts.h5;
  if (at.size() != 4 ||
      std::ranges::any_of(at, [](int64_t n) { return n < 0; }))
    return std::nullopt;
  return LayerListFile::Place{size_t(at[0]), size_t(at[1]),      size_t(at[2]),
                              size_t(at[3]), port.facts.h5Layer, port};
}

LayerListFile::LayerListFile(const KerasH5 &file, const ModelState &state,
                             const std::string &where)
    : file(file), where(where) {
  for (const StoredArray &array : file.arrays)
    arrays[array.name] = &array;
  for (const ModelState::Variable &variable : state.variables()) {
    std::optional<Place> place = placeOf(variable.port);
    if (!place)
      continue;
    layersOfModel = place->layers;
    wanted.push_back(std::move(*place));
  }
}

Status LayerListFile::place() {
  std::vector<const KerasH5::Layer *> layers;
  for (const KerasH5::Layer &layer : file.layers)
    if (!layer.weights.empty())
      layers.push_back(&layer);
  if (layers.size() != layersOfModel)
    return Error{where + ": has " + std::to_string(layers.size()) +
                 " layers with weights, the model has " +
                 std::to_string(layersOfModel) +
                 "; the file belongs to another model"};
  for (const KerasH5::Layer *layer : layers)
    listed.insert(layer->weights.begin(), layer->weights.end());
  for (const Place &place : wanted)
    if (Status ok = addWeight(place, layers); !ok)
      return ok;
  // An optimizer of Keras 3 has the same variables in the same order.
  for (size_t i = 0; file.isOfKeras3() && i < file.optimizer.size(); ++i)
    if (Status ok = add(file.optimizer[i],
                        "optimizer/vars/" + std::to_string(i), datasets);
        !ok)
      return ok;
  return {};
}

std::vector<std::string> LayerListFile::unlisted() const {
  std::vector<std::string> out;
  for (const auto &[name, array] : arrays)
    if (!listed.contains(name) && !name.starts_with("optimizer_weights/"))
      out.push_back(name);
  return out;
}

Status
LayerListFile::addWeight(const Place &place,
                         const std::vector<const KerasH5::Layer *> &layers) {
  const KerasH5::Layer *layer =
      place.layer < layers.size() ? layers[place.layer] : nullptr;
  size_t count = layer ? layer->weights.size() : 0;
  if (count != place.weights || place.weight >= count)
    return Error{where + ": has " + std::to_string(count) +
                 " weights of its layer \"" + (layer ? layer->name : "") +
                 "\", the model's layer \"" + place.name + "\" has " +
                 std::to_string(place.weights) +
                 "; the file belongs to another model"};
  const std::string &saved = place.port.facts.saved;
  const std::string &dataset = layer->weights[place.weight];
  return saved.empty() ? add(dataset, place.port.name, adapters)
                       : add(dataset, saved, datasets);
}

Status LayerListFile::add(const std::string &dataset, const std::string &as,
                          std::vector<StoredArray> &to) {
  auto found = arrays.find(dataset);
  if (found == arrays.end())
    return Error{where + ": has no dataset " + dataset +
                 ", which its list of weights names; the file is damaged"};
  to.push_back(found->second->renamed(as));
  listed.insert(dataset);
  return {};
}
