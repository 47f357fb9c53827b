//===- LayoutChanges.cpp - other annotations one could write --------------===//

#include "weft/compiler/frontends/keras/distribution/LayoutChanges.h"

#include "weft/compiler/explain/LayoutVariants.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace weft::keras;

static std::string axisAsJson(const Mesh &mesh, const SubAxis &axis) {
  const MeshAxis &full = mesh.axes[axis.axis];
  std::string text = full.name;
  if (axis.size != full.size)
    text += ":(" + std::to_string(axis.skip) + ")" + std::to_string(axis.size);
  return "\"" + text + "\"";
}

std::string weft::layoutAsJson(const Mesh &mesh, const Layout &layout) {
  std::string text;
  for (const SubAxes &dim : layout.dims) {
    std::string axes;
    for (const SubAxis &axis : dim)
      axes += (axes.empty() ? "" : ", ") + axisAsJson(mesh, axis);
    if (dim.empty())
      axes = "null";
    else if (dim.size() > 1)
      axes = "[" + axes + "]";
    text += (text.empty() ? "" : ", ") + axes;
  }
  return "[" + text + "]";
}

Distribution LayoutChange::applied(Distribution distribution) const {
  switch (kind) {
  case Kind::Add:
    distribution.dataParallel = false;
    distribution.rules.push_back(wanted);
    break;
  case Kind::Change:
    distribution.rules[rule] = wanted;
    break;
  case Kind::Remove:
    distribution.rules.erase(distribution.rules.begin() + rule);
    break;
  }
  return distribution;
}

LayoutChanges::LayoutChanges(const Distribution &distribution,
                             const ResolvedLayouts &resolved,
                             const Model &model)
    : distribution(distribution), resolved(resolved) {
  auto add = [&](const std::string &path, Tensor tensor) {
    if (tensors.emplace(path, std::move(tensor)).second)
      paths.push_back(path);
  };
  for (const Variable &variable : model.variables)
    add(variable.path, {variable.layer, variable.shape.size(), false, false,
                        variable.dtype == "float32"});
  for (const Node &node : model.nodes) {
    const ModelLayer &layer = model.layers[node.layer];
    add(layer.name + "/output",
        {layer.name, node.shape.size() + 1, true, false,
         !layer.isInput() && !distribution.dataParallel});
  }
  for (const keras::RuleStatus &rule : resolved.rules)
    for (const std::string &path : rule.matches)
      if (auto found = tensors.find(path); found != tensors.end())
        found->second.hasRule = true;
}

std::set<unsigned> LayoutChanges::everyAxis() const {
  std::set<unsigned> axes;
  for (unsigned axis = 0; axis < distribution.mesh.axes.size(); ++axis)
    axes.insert(axis);
  return axes;
}

std::string LayoutChanges::json(const Layout &layout) const {
  return layoutAsJson(distribution.mesh, layout);
}

LayoutChanges::Selection
LayoutChanges::select(const CollectiveCost &collective) const {
  Selection selection;
  for (const std::string &name : collective.axes)
    if (auto axis = distribution.mesh.find(name.substr(0, name.find(':'))))
      selection.axes.insert(*axis);
  for (const std::string &path : collective.where)
    if (auto found = tensors.find(path); found != tensors.end())
      selection.layers.insert(found->second.layer);
  return selection;
}

bool LayoutChanges::namesLayer(size_t rule, const Selection &selection) const {
  return llvm::any_of(resolved.rules[rule].matches,
                      [&](const std::string &path) {
                        auto found = tensors.find(path);
                        return found != tensors.end() &&
                               selection.layers.contains(found->second.layer);
                      });
}

/// Adds the changes of a rule. Layouts propagate through the program, so any
/// rule with one of the collective's axes may be the cause. A rule of a layer
/// that the collective names is tried on every axis.
void LayoutChanges::changeRule(size_t rule, const Selection &selection,
                               std::vector<LayoutChange> &changes) const {
  const LayoutRule &old = distribution.rules[rule];
  std::set<unsigned> axes;
  for (unsigned axis : selection.axes)
    if (usesAxis(old.layout, axis))
      axes.insert(axis);
  bool named = namesLayer(rule, selection);
  if (axes.empty() && !named)
    return;
  // A rule may have fewer dimensions than its tensor.
  Layout padded = old.layout;
  for (const std::string &path : resolved.rules[rule].matches)
    if (auto found = tensors.find(path); found != tensors.end())
      padded.dims.resize(std::max(padded.dims.size(), found->second.rank));
  std::string subject =
      "change \"" + old.key + "\" from " + json(old.layout) + " to ";
  std::string said = "\"" + old.key + "\": " + json(old.layout);
  for (const Layout &layout :
       layoutVariants(distribution.mesh, padded, named ? everyAxis() : axes))
    changes.push_back({LayoutChange::Kind::Change,
                       subject + json(layout),
                       said,
                       int(rule),
                       {old.key, layout, old.map}});
  if (llvm::StringRef(old.key).ends_with("/output"))
    changes.push_back(
        {LayoutChange::Kind::Remove, "remove " + said, said, int(rule), old});
}

void LayoutChanges::addRule(const std::string &path, const Tensor &tensor,
                            std::vector<LayoutChange> &changes) const {
  Layout layout = Layout::replicated(static_cast<int64_t>(tensor.rank));
  // Variants of an output's layout start with the batch axis in dimension 0.
  if (tensor.isOutput)
    layout.dims[0].push_back(fullAxis(
        distribution.mesh, *distribution.mesh.find(distribution.batchAxis)));
  std::vector<Layout> layouts =
      layoutVariants(distribution.mesh, layout, everyAxis());
  if (tensor.isOutput)
    layouts.push_back(layout);
  const char *first = distribution.dataParallel ? "use ModelParallel and " : "";
  LayoutRule rule;
  rule.key = path;
  std::string place; // the map of the file, where there are several
  if (distribution.hasOwnMaps) {
    rule.map =
        tensor.isOutput ? LayoutRule::Map::Tensors : LayoutRule::Map::Variables;
    place = std::string(" to ") + rule.mapName();
  }
  for (const Layout &candidate : layouts) {
    rule.layout = candidate;
    changes.push_back(
        {LayoutChange::Kind::Add,
         first + ("add \"" + path + "\": " + json(candidate) + place), "", -1,
         rule});
  }
}

std::vector<LayoutChange>
LayoutChanges::of(const CollectiveCost &collective) const {
  Selection selection = select(collective);
  std::vector<LayoutChange> changes;
  for (bool named : {true, false})
    for (size_t rule = 0; rule < distribution.rules.size(); ++rule)
      if (namesLayer(rule, selection) == named)
        changeRule(rule, selection, changes);
  for (const std::string &path : paths) {
    const Tensor &tensor = tensors.at(path);
    if (tensor.canBeAnnotated && !tensor.hasRule &&
        selection.layers.contains(tensor.layer))
      addRule(path, tensor, changes);
  }
  return changes;
}
