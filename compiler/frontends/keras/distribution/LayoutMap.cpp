//===- LayoutMap.cpp - which rule is for which path -----------------------===//

#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/compiler/frontends/keras/schema/Json.h"

#include <algorithm>
#include <map>
#include <memory>

using namespace weft;
using namespace weft::keras;

namespace {

/// findRule() with patterns that are compiled already.
RuleLookup lookUp(const Distribution &distribution, Patterns &patterns,
                  const std::string &path) {
  RuleLookup out;
  int exact = -1;
  std::vector<std::string> keys;
  for (size_t i = 0; i < distribution.rules.size(); ++i) {
    const std::string &key = distribution.rules[i].key;
    if (key == path)
      exact = i;
    if (key != path && !patterns.match(key, path, out.error))
      continue;
    out.matches.push_back(i);
    keys.push_back(inQuotes(key));
  }
  if (exact >= 0) // the equal key wins, whatever the patterns say
    out.rule = exact;
  else if (!out.matches.empty())
    out.rule = out.matches[0];
  bool ambiguous = exact < 0 && out.matches.size() > 1 &&
                   distribution.regex != RegexMode::FirstMatch;
  if (ambiguous && out.error.empty())
    out.error = "path " + inQuotes(path) +
                " matches several keys of layout_map: " + listed(keys) +
                "; change them so that one matches";
  return out;
}

std::string because(const LayoutRule &rule) {
  return "layout_map " + inQuotes(rule.key);
}

/// Tries rules on the model's paths and remembers which were of use.
class Resolver {
public:
  Resolver(const Distribution &distribution, const Model &model)
      : distribution(distribution), model(model),
        patterns(distribution.regex, "layout_map "),
        used(distribution.rules.size()), matched(distribution.rules.size()) {}

  /// The rule of a path; its alias under the Sequential's name where none is.
  int rule(const std::string &path) {
    paths.push_back(path);
    int found = tryPath(path, path);
    if (found < 0 && model.className == "Sequential")
      found = tryPath(model.name + "/" + path, path);
    return found;
  }

  ResolvedLayout layout(int rule, const std::string &path, int64_t rank) {
    const LayoutRule &found = distribution.rules[rule];
    ResolvedLayout out{found.layout, because(found)};
    if (int64_t(out.layout.dims.size()) > rank && error.empty())
      error = because(found) + ": has " +
              std::to_string(out.layout.dims.size()) + " dimensions, " +
              inQuotes(path) + " has " + std::to_string(rank) +
              "; a layout has one entry for each dimension, or fewer";
    out.layout.dims.resize(rank);
    return out;
  }

  std::vector<RuleStatus> statuses() const {
    std::vector<RuleStatus> out;
    for (size_t i = 0; i < used.size(); ++i) {
      RuleStatus status{distribution.rules[i].key, "used", matched[i], {}};
      if (!used[i])
        status.status = matched[i].empty() ? "dead" : "shadowed";
      if (status.status == "dead")
        status.closest = closest(status.key);
      out.push_back(std::move(status));
    }
    return out;
  }

  std::string error;

private:
  int tryPath(const std::string &tried, const std::string &path) {
    RuleLookup found = lookUp(distribution, patterns, tried);
    if (error.empty())
      error = found.error;
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
  const Model &model;
  Patterns patterns;
  std::vector<bool> used;
  std::vector<std::vector<std::string>> matched;
  std::vector<std::string> paths;
};

} // namespace

RuleLookup weft::keras::findRule(const Distribution &distribution,
                                 const std::string &path) {
  Patterns patterns(distribution.regex, "layout_map ");
  return lookUp(distribution, patterns, path);
}

ResolvedLayout weft::keras::batchLayout(const Distribution &distribution,
                                        int64_t rank) {
  ResolvedLayout out{Layout::replicated(rank),
                     "batch axis " + inQuotes(distribution.batchAxis)};
  if (rank > 0)
    out.layout.dims[0].push_back(wholeAxis(
        distribution.mesh, *distribution.mesh.find(distribution.batchAxis)));
  return out;
}

Result<ResolvedLayouts>
weft::keras::resolveLayouts(const Distribution &distribution,
                            const Model &model) {
  Resolver resolver(distribution, model);
  ResolvedLayouts out;
  for (const Variable &variable : model.variables) {
    int64_t rank = variable.shape.size();
    int rule = resolver.rule(variable.path);
    out.variables[variable.path] =
        rule >= 0 ? resolver.layout(rule, variable.path, rank)
                  : ResolvedLayout{Layout::replicated(rank), "no rule matches"};
  }
  for (const Node &node : model.nodes) {
    const ModelLayer &layer = model.layers[node.layer];
    bool isInput = layer.isInput();
    if (out.inputs.count(layer.name) || out.outputs.count(layer.name))
      continue;
    std::string path = layer.name + "/output";
    int64_t rank = node.shape.size() + 1;
    int rule = distribution.dataParallel ? -1 : resolver.rule(path);
    if (rule >= 0)
      (isInput ? out.inputs : out.outputs)[layer.name] =
          resolver.layout(rule, path, rank);
    else if (isInput)
      out.inputs[layer.name] = batchLayout(distribution, rank);
  }
  if (!resolver.error.empty())
    return Result<ResolvedLayouts>::failure(resolver.error);
  out.rules = resolver.statuses();
  return {std::move(out), ""};
}
