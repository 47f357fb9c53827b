//===- Placements.cpp - layers on parts of the mesh -----------------------===//

#include "weft/compiler/frontends/keras/distribution/Placements.h"

#include "weft/base/config/Json.h"

#include <algorithm>

using namespace weft;
using namespace weft::keras;

namespace {
/// Matches keys with the layers of a model.
class PlaceResolver {
public:
  PlaceResolver(const Distribution &distribution [[clang::lifetimebound]],
                const Model &model [[clang::lifetimebound]])
      : distribution(distribution), model(model),
        patterns(distribution.regex, "placements "),
        used(distribution.placements.size()), places(model.layers.size()) {}

  Result<std::vector<LayerPlace>> run();

private:
  std::string pathOf(int layer) const;
  void resolve(unsigned layer);
  void take(unsigned layer, const PlacementRule &rule);
  bool addList(unsigned layer, const PlacementRule &rule);
  void resolveCuts();
  void resolveModels();
  void checkUsed();

  const Distribution &distribution;
  const Model &model;
  Patterns patterns;
  std::vector<bool> used;
  std::vector<LayerPlace> places;
  Status status;
};
} // namespace

/// user_tower/d1 for a layer of the nested model user_tower.
std::string PlaceResolver::pathOf(int layer) const {
  const ModelLayer &its = model.layers[layer];
  return its.parent < 0 ? its.name : pathOf(its.parent) + "/" + its.name;
}

static std::string because(const PlacementRule &rule) {
  return rule.entry + " " + inQuotes(rule.key);
}

static int64_t callsOf(const Model &model, unsigned layer) {
  return std::ranges::count_if(model.nodes, [&](const Node &node) {
    return node.layer == layer && node.result == 0;
  });
}

/// Adds a further stage in which the layer is called; returns whether it may be
/// called in several.
bool PlaceResolver::addList(unsigned layer, const PlacementRule &rule) {
  std::vector<int64_t> &lists = places[layer].lists;
  if (!rule.list || (!lists.empty() && callsOf(model, layer) < 2))
    return false;
  bool isFirst = lists.empty();
  if (!std::ranges::count(lists, *rule.list))
    lists.push_back(*rule.list);
  return !isFirst;
}

/// Adds the coordinate of a rule that matches the layer.
void PlaceResolver::take(unsigned layer, const PlacementRule &rule) {
  LayerPlace &place = places[layer];
  if (addList(layer, rule))
    return;
  for (const AxisCoordinate &known : place.part)
    if (known.axis == rule.at.axis && known != rule.at && status)
      status = Error{"layer " + inQuotes(pathOf(int(layer))) +
                     " is put on coordinate " +
                     std::to_string(known.coordinate) + " of axis " +
                     inQuotes(distribution.mesh.axes[known.axis].name) +
                     " by " + place.reason + ", and on coordinate " +
                     std::to_string(rule.at.coordinate) + " by " +
                     because(rule) + "; change the keys so that one matches"};
  if (fixes(place.part, rule.at.axis))
    return;
  place.part.push_back(rule.at);
  std::ranges::sort(place.part);
  place.reason += (place.reason.empty() ? "" : ", ") + because(rule);
}

/// Finds the place of a layer: of the keys for an axis those that equal its path
/// take precedence, then patterns, then the place of the model around it.
void PlaceResolver::resolve(unsigned layer) {
  const std::string path = pathOf(int(layer));
  const std::vector<PlacementRule> &rules = distribution.placements;
  for (bool exactly : {true, false})
    for (size_t i = 0; i < rules.size(); ++i) {
      bool isEqual = rules[i].key == path;
      if (exactly ? !isEqual
                  : isEqual || !patterns.match(rules[i].key, path, status))
        continue;
      used[i] = true;
      auto hasOwnKey = [&](const PlacementRule &other) {
        return other.key == path && other.at.axis == rules[i].at.axis;
      };
      if (exactly || std::ranges::none_of(rules, hasOwnKey))
        take(layer, rules[i]);
    }
  if (int parent = model.layers[layer].parent; parent >= 0)
    for (const AxisCoordinate &at : places[size_t(parent)].part)
      if (!fixes(places[layer].part, at.axis)) {
        places[layer].part.push_back(at);
        std::ranges::sort(places[layer].part);
        places[layer].reason = places[size_t(parent)].reason;
        places[layer].lists = places[size_t(parent)].lists;
      }
}

/// Puts layers where the costs of their calls have put these, the first of them.
void PlaceResolver::resolveCuts() {
  if (!distribution.pipeline || !distribution.pipeline->isAuto)
    return;
  const Pipeline &pipeline = *distribution.pipeline;
  for (size_t node = 0; node < pipeline.calls.size(); ++node) {
    int64_t stage = pipeline.calls[node];
    LayerPlace &place = places[model.nodes[node].layer];
    if (stage < 0 || std::ranges::count(place.lists, stage))
      continue;
    place.lists.push_back(stage);
    if (fixes(place.part, pipeline.axis))
      continue;
    place.part.push_back({pipeline.axis, stage});
    std::ranges::sort(place.part);
    place.reason +=
        (place.reason.empty() ? "" : ", ") +
        ("pipeline, stage " + std::to_string(stage) + " of \"auto\"");
  }
}

/// Puts nested models of a pipeline without a key where their outputs are.
void PlaceResolver::resolveModels() {
  for (const Node &node : model.nodes)
    if (distribution.pipeline && model.layers[node.layer].isModel() &&
        places[node.layer].part.empty())
      places[node.layer] = places[model.nodes[node.inputs[0]].layer];
}

/// Reports a key that matches no layer.
void PlaceResolver::checkUsed() {
  for (size_t i = 0; i < used.size() && status; ++i) {
    if (used[i])
      continue;
    std::vector<std::pair<size_t, std::string>> near;
    for (size_t layer = 0; layer < model.layers.size(); ++layer) {
      std::string path = pathOf(int(layer));
      near.emplace_back(editDistance(path, distribution.placements[i].key),
                        inQuotes(path));
    }
    std::ranges::sort(near);
    std::vector<std::string> names;
    for (size_t n = 0; n < std::min<size_t>(near.size(), 3); ++n)
      names.push_back(near[n].second);
    status =
        Error{because(distribution.placements[i]) +
              " matches no layer; the nearest layers are " + listed(names)};
  }
}

Result<std::vector<LayerPlace>> PlaceResolver::run() {
  // Models come before the layers that they contain, whatever their numbers.
  std::vector<bool> isDone(model.layers.size());
  for (size_t done = 0, before = 1; done != before;) {
    before = done;
    for (size_t layer = 0; layer < model.layers.size(); ++layer)
      if (int parent = model.layers[layer].parent;
          !isDone[layer] && (parent < 0 || isDone[size_t(parent)])) {
        resolve(unsigned(layer));
        isDone[layer] = true;
        ++done;
      }
  }
  resolveCuts();
  resolveModels();
  checkUsed();
  if (!status)
    return status.error();
  return std::move(places);
}

Result<std::vector<LayerPlace>>
weft::keras::resolvePlaces(const Distribution &distribution,
                           const Model &model) {
  const std::optional<Pipeline> &pipeline = distribution.pipeline;
  if (pipeline && pipeline->isAuto &&
      pipeline->calls.size() != model.nodes.size())
    return Error{"pipeline: \"stages\" is \"auto\", which only a command that "
                 "knows the costs of a step can cut; write lists of layers"};
  if (distribution.placements.empty() && !pipeline)
    return std::vector<LayerPlace>(model.layers.size());
  return PlaceResolver(distribution, model).run();
}

namespace {
/// Finds the places of calls.
class CallResolver {
public:
  CallResolver(const Distribution &distribution [[clang::lifetimebound]],
               const Model &model [[clang::lifetimebound]],
               std::vector<LayerPlace> &places [[clang::lifetimebound]])
      : distribution(distribution), model(model), places(places),
        calls(model.nodes.size()) {}

  Result<std::vector<LayerPlace>> run() {
    for (size_t node = 0; node < calls.size(); ++node)
      resolve(node);
    for (size_t node = 0; node < calls.size(); ++node)
      resolveInput(node);
    for (unsigned layer = 0; layer < places.size(); ++layer)
      if (Status used = checkUsed(layer); !used)
        return used.error();
    return std::move(calls);
  }

private:
  void resolve(size_t node);
  int64_t listOf(const Node &call, const LayerPlace &place) const;
  void resolveInput(size_t node);
  Status checkUsed(unsigned layer) const;

  const Distribution &distribution;
  const Model &model;
  std::vector<LayerPlace> &places;
  std::vector<LayerPlace> calls; ///< by node
};
} // namespace

/// The first list of the layer that is not before those of what the call reads.
int64_t CallResolver::listOf(const Node &call, const LayerPlace &place) const {
  int64_t latest = 0;
  for (unsigned input : call.inputs)
    for (int64_t list : calls[input].lists)
      latest = std::max(latest, list);
  auto chosen = std::ranges::find_if(
      place.lists, [&](int64_t list) { return list >= latest; });
  return chosen == place.lists.end() ? place.lists.back() : *chosen;
}

void CallResolver::resolve(size_t node) {
  const Node &call = model.nodes[node];
  LayerPlace &place = calls[node] = places[call.layer];
  if (place.lists.size() < 2)
    return;
  if (model.layers[call.layer].isModel()) {
    place = calls[call.inputs[0]];
    return;
  }
  const Pipeline &pipeline = *distribution.pipeline;
  int64_t list = pipeline.isAuto ? pipeline.calls[node] : listOf(call, place);
  for (AxisCoordinate &at : place.part)
    if (at.axis == pipeline.axis)
      at.coordinate = list % pipeline.count;
  place.lists = {list};
}

/// Puts an input without a key where all calls are that take it.
void CallResolver::resolveInput(size_t input) {
  unsigned layer = model.nodes[input].layer;
  if (!model.layers[layer].isInput() || !places[layer].part.empty())
    return;
  const LayerPlace *common = nullptr;
  bool agree = true;
  for (size_t node = 0; node < calls.size(); ++node)
    if (std::ranges::count(model.nodes[node].inputs, unsigned(input))) {
      agree &= !common || common->part == calls[node].part;
      common = &calls[node];
    }
  if (common && agree)
    calls[input] = places[layer] = *common;
}

Status CallResolver::checkUsed(unsigned layer) const {
  const std::vector<int64_t> &lists = places[layer].lists;
  if (lists.size() < 2)
    return {};
  for (int64_t list : lists) {
    bool isUsed = false;
    for (size_t node = 0; node < calls.size(); ++node)
      isUsed |= model.nodes[node].layer == layer &&
                std::ranges::count(calls[node].lists, list) > 0;
    if (!isUsed)
      return Error{"pipeline: layer " + inQuotes(model.layers[layer].name) +
                   " is in " + std::to_string(lists.size()) +
                   " lists of \"stages\", and none of its " +
                   std::to_string(callsOf(model, layer)) +
                   " calls is in list " + std::to_string(list) +
                   ", as a call is in the first list that is not before what "
                   "it reads; take it out of that list"};
  }
  return {};
}

Result<std::vector<LayerPlace>>
weft::keras::resolveCalls(const Distribution &distribution, const Model &model,
                          std::vector<LayerPlace> &places) {
  return CallResolver(distribution, model, places).run();
}

Status weft::keras::putOn(const Mesh &mesh, const LayerPlace &place,
                          const std::string &tensor, ResolvedLayout &layout) {
  layout.layout.part = place.part;
  std::string reason =
      invalidReason(mesh, layout.layout, int64_t(layout.layout.dims.size()));
  if (!reason.empty())
    return Error{inQuotes(tensor) + ", laid out by " + layout.reason +
                 " and put on a part of the mesh by " + place.reason + ": " +
                 reason + "; split it over other axes"};
  if (!place.part.empty())
    layout.reason += ", " + place.reason;
  return {};
}
