//===- LayoutMap.cpp - which rule is for which path -----------------------===//

#include "weft/base/config/Json.h"
#include "weft/compiler/frontends/keras/distribution/Pipelines.h"
#include "weft/compiler/frontends/keras/distribution/Placements.h"

#include <algorithm>
#include <map>
#include <memory>

using namespace weft;
using namespace weft::keras;

namespace {

/// The rule for a path, like findRule() but with compiled patterns.
RuleLookup lookUp(const Distribution &distribution, Patterns &patterns,
                  const std::string &path, LayoutRule::Map kind) {
  RuleLookup out;
  int exact = -1;
  std::vector<std::string> keys;
  for (size_t i = 0; i < distribution.rules.size(); ++i) {
    const std::string &key = distribution.rules[i].key;
    if (!distribution.rules[i].isFor(kind))
      continue;
    if (key == path)
      exact = i;
    if (key != path && !patterns.match(key, path, out.status))
      continue;
    out.matches.push_back(i);
    keys.push_back(inQuotes(key));
  }
  if (exact >= 0) // the equal key has precedence over patterns
    out.rule = exact;
  else if (!out.matches.empty())
    out.rule = out.matches[0];
  bool ambiguous = exact < 0 && out.matches.size() > 1 &&
                   distribution.regex != RegexMode::FirstMatch;
  if (ambiguous && out.status)
    out.status = Error{"path " + inQuotes(path) + " matches several keys of " +
                       distribution.rules[out.matches[0]].mapName() + ": " +
                       listed(keys) + "; change them so that one matches"};
  return out;
}

std::string because(const LayoutRule &rule) {
  return std::string(rule.mapName()) + " " + inQuotes(rule.key);
}

/// Applies rules to the model's paths and records which were used.
class Resolver {
public:
  Resolver(const Distribution &distribution [[clang::lifetimebound]],
           std::string prefix = "")
      : distribution(distribution), prefix(std::move(prefix)),
        patterns(distribution.regex, "layout_map "),
        used(distribution.rules.size()), matched(distribution.rules.size()) {}

  /// The rule of a path, which may also be written with the prefix.
  int rule(const std::string &path, LayoutRule::Map kind) {
    paths.push_back(path);
    int found = tryPath(path, path, kind);
    if (found < 0 && !prefix.empty())
      found = tryPath(prefix + path, path, kind);
    return found;
  }

  ResolvedLayout layout(int rule, const std::string &path, int64_t rank) {
    const LayoutRule &found = distribution.rules[rule];
    ResolvedLayout out{found.layout, because(found)};
    if (int64_t(out.layout.dims.size()) > rank && status)
      status = Error{because(found) + ": has " +
                     std::to_string(out.layout.dims.size()) + " dimensions, " +
                     inQuotes(path) + " has " + std::to_string(rank) +
                     "; a layout has one entry for each dimension, or fewer"};
    out.layout.dims.resize(rank);
    return out;
  }

  /// The strategy's layout, resized to the rank of the tensor; an error if it
  /// has more dimensions or is invalid.
  ResolvedLayout ofStrategy(Layout layout, const std::string &path,
                            int64_t rank) {
    const std::string name = distribution.strategy->name();
    std::string reason = int64_t(layout.dims.size()) > rank
                             ? "has " + std::to_string(layout.dims.size()) +
                                   " dimensions, the tensor " +
                                   std::to_string(rank)
                             : "";
    layout.dims.resize(rank);
    if (reason.empty())
      reason = invalidReason(distribution.mesh, layout, rank);
    if (!reason.empty() && status)
      status = Error{"the layout of " + inQuotes(path) + " by " + name + " " +
                     reason +
                     "; a layout has one entry for each dimension, or fewer"};
    return {reason.empty() ? layout : Layout::replicated(rank), name};
  }

  void resolve(const NamedShape &variable, ResolvedLayouts &out) {
    int64_t rank = variable.shape.size();
    int found = rule(variable.path, LayoutRule::Map::Variables);
    ResolvedLayout &resolved = out.variables[variable.path];
    resolved = {Layout::replicated(rank), "no rule matches"};
    if (found >= 0)
      resolved = layout(found, variable.path, rank);
    else if (distribution.strategy)
      if (auto own = distribution.strategy->variableLayout(variable))
        resolved = ofStrategy(*own, variable.path, rank);
  }

  std::vector<RuleStatus> statuses() const {
    std::vector<RuleStatus> out;
    for (size_t i = 0; i < used.size(); ++i) {
      RuleStatus status{distribution.rules[i].key,
                        "used",
                        distribution.rules[i].mapName(),
                        matched[i],
                        {}};
      if (!used[i])
        status.status = matched[i].empty() ? "dead" : "shadowed";
      if (status.status == "dead")
        status.closest = closest(status.key);
      out.push_back(std::move(status));
    }
    return out;
  }

  Status status;

private:
  int tryPath(const std::string &tried, const std::string &path,
              LayoutRule::Map kind) {
    RuleLookup found = lookUp(distribution, patterns, tried, kind);
    if (status)
      status = found.status;
    for (int rule : found.matches)
      matched[rule].push_back(path);
    if (found.rule >= 0)
      used[found.rule] = true;
    return found.rule;
  }

  std::vector<std::string> closest(const std::string &key) const {
    std::vector<std::pair<size_t, std::string>> ranked;
    for (const std::string &path : paths)
      ranked.emplace_back(editDistance(path, key), path);
    size_t shown = std::min<size_t>(ranked.size(), 3);
    std::partial_sort(ranked.begin(), ranked.begin() + shown, ranked.end());
    std::vector<std::string> nearest;
    for (size_t i = 0; i < shown; ++i)
      nearest.push_back(ranked[i].second);
    return nearest;
  }

  const Distribution &distribution;
  std::string prefix;
  Patterns patterns;
  std::vector<bool> used;
  std::vector<std::vector<std::string>> matched;
  std::vector<std::string> paths;
};

} // namespace

const char *LayoutRule::mapName() const {
  switch (map) {
  case Map::Layouts:
    return "layout_map";
  case Map::Variables:
    return "variable_layouts";
  case Map::Tensors:
    return "tensor_layouts";
  }
  return "";
}

RuleLookup weft::keras::findRule(const Distribution &distribution,
                                 const std::string &path,
                                 LayoutRule::Map kind) {
  Patterns patterns(distribution.regex, "layout_map ");
  return lookUp(distribution, patterns, path, kind);
}

ResolvedLayout weft::keras::batchLayout(const Distribution &distribution,
                                        llvm::ArrayRef<int64_t> shape) {
  auto rank = int64_t(shape.size());
  if (distribution.strategy)
    if (auto layout = distribution.strategy->dataLayout(shape)) {
      layout->dims.resize(rank);
      return {*layout, distribution.strategy->name()};
    }
  ResolvedLayout out{Layout::replicated(rank),
                     "batch axis " + inQuotes(distribution.batchAxis)};
  if (rank > 0)
    out.layout.dims[0].push_back(fullAxis(
        distribution.mesh, *distribution.mesh.find(distribution.batchAxis)));
  return out;
}

/// The shape of a batch; dimension 0 is -1, for any number of samples.
static std::vector<int64_t> ofBatch(llvm::ArrayRef<int64_t> sample) {
  std::vector<int64_t> shape{-1};
  shape.insert(shape.end(), sample.begin(), sample.end());
  return shape;
}

Result<ResolvedLayouts>
weft::keras::resolveLayouts(const Distribution &distribution,
                            llvm::ArrayRef<NamedShape> variables) {
  if (!distribution.placements.empty() || distribution.pipeline)
    return Error{std::string(distribution.pipeline ? "\"pipeline\" names"
                                                   : "\"placements\" name") +
                 " the layers of a model, which a traced step does not have; "
                 "give the model, or leave them out"};
  Resolver resolver(distribution);
  ResolvedLayouts out;
  for (const NamedShape &variable : variables)
    resolver.resolve(variable, out);
  if (!resolver.status)
    return resolver.status.error();
  out.rules = resolver.statuses();
  return out;
}

/// Puts variables, inputs and results of layers where their layers are.
static Status place(const Distribution &distribution, const Model &model,
                    ResolvedLayouts &out) {
  auto places = resolvePlaces(distribution, model);
  if (!places)
    return places.error();
  auto calls = resolveCalls(distribution, model, *places);
  if (!calls)
    return calls.error();
  if (Status chain = checkStages(distribution, model, *calls); !chain)
    return chain;
  out.places = std::move(*places);
  out.callPlaces = std::move(*calls);
  const Mesh &mesh = distribution.mesh;
  for (const Variable &variable : model.variables)
    if (Status ok = putOn(mesh, out.places[variable.owner], variable.path,
                          out.variables[variable.path]);
        !ok)
      return ok;
  for (size_t layer = 0; layer < model.layers.size(); ++layer) {
    const std::string &name = model.layers[layer].name;
    if (auto input = out.inputs.find(name); input != out.inputs.end()) {
      // The batch is split over the axes that the place leaves.
      Layout &layout = input->second.layout;
      layout = onPart(layout, out.places[layer].part);
    }
    if (auto result = out.outputs.find(name); result != out.outputs.end())
      if (Status ok =
              putOn(mesh, out.places[layer], name + "/output", result->second);
          !ok)
        return ok;
  }
  return {};
}

Result<ResolvedLayouts>
weft::keras::resolveLayouts(const Distribution &distribution,
                            const Model &model) {
  // Paths of a Sequential may begin with the model's name.
  Resolver resolver(distribution,
                    model.className == "Sequential" ? model.name + "/" : "");
  ResolvedLayouts out;
  for (const Variable &variable : model.variables)
    resolver.resolve({variable.path, variable.shape}, out);
  for (const Node &node : model.nodes) {
    const ModelLayer &layer = model.layers[node.layer];
    bool isInput = layer.isInput();
    if (out.inputs.count(layer.name) || out.outputs.count(layer.name))
      continue;
    std::string path = layer.name + "/output";
    std::vector<int64_t> shape = ofBatch(node.shape);
    auto rank = int64_t(shape.size());
    int rule = distribution.dataParallel
                   ? -1
                   : resolver.rule(path, LayoutRule::Map::Tensors);
    std::optional<Layout> own;
    if (distribution.strategy)
      own = isInput ? distribution.strategy->dataLayout(shape)
                    : distribution.strategy->tensorLayout(path, shape);
    auto &layouts = isInput ? out.inputs : out.outputs;
    if (rule >= 0)
      layouts[layer.name] = resolver.layout(rule, path, rank);
    else if (own)
      layouts[layer.name] = resolver.ofStrategy(*own, path, rank);
    else if (isInput)
      layouts[layer.name] = batchLayout(distribution, shape);
  }
  for (unsigned output = 0; output < model.outputs.size(); ++output)
    if (distribution.strategy && model.hasLabel(output)) {
      std::vector<int64_t> shape = ofBatch(model.labelShape(output));
      if (auto own = distribution.strategy->dataLayout(shape))
        resolver.ofStrategy(*own, model.outputName(output) + "/label",
                            int64_t(shape.size()));
    }
  if (Status ok = place(distribution, model, out); !ok && resolver.status)
    resolver.status = std::move(ok);
  if (!resolver.status)
    return resolver.status.error();
  out.rules = resolver.statuses();
  return out;
}
