//===- LayoutChanges.cpp - other annotations one could write --------------===//

#include "weft/compiler/explain/LayoutChanges.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace weft;
using namespace weft::keras;

static std::string axisAsJson(const Mesh &mesh, const SubAxis &axis) {
  const MeshAxis &whole = mesh.axes[axis.axis];
  std::string text = whole.name;
  if (axis.size != whole.size)
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

namespace {

bool usesAxis(const Layout &layout, unsigned axis) {
  return llvm::any_of(layout.dims, [&](const SubAxes &dim) {
    return llvm::any_of(dim, [&](const SubAxis &a) { return a.axis == axis; });
  });
}

Layout without(Layout layout, unsigned axis) {
  for (SubAxes &dim : layout.dims)
    llvm::erase_if(dim, [&](const SubAxis &a) { return a.axis == axis; });
  return layout;
}

/// Collects the changes for one collective.
class Changes {
public:
  Changes(const Distribution &distribution, const Model &model,
          const CollectiveCost &collective)
      : distribution(distribution), model(model) {
    for (const std::string &name : collective.axes)
      if (auto axis = distribution.mesh.find(name.substr(0, name.find(':'))))
        axes.push_back(*axis);
    for (const std::string &path : collective.where)
      for (const Layer &layer : model.layers)
        if (path.starts_with(layer.name + "/"))
          layers.insert(layer.name);
  }

  std::vector<LayoutChange> collect() {
    for (size_t rule = 0; rule < distribution.rules.size(); ++rule)
      if (concerns(rule))
        changeRule(rule);
    for (const Variable &variable : model.variables)
      if (layers.contains(variable.layer) && variable.dtype == "float32")
        addRule(variable.path, variable.shape.size());
    for (const Node &node : model.nodes) {
      const Layer &layer = model.layers[node.layer];
      if (layers.contains(layer.name) && layer.kind != LayerKind::Input &&
          !distribution.dataParallel)
        addRule(layer.name + "/output", node.shape.size() + 1);
    }
    return std::move(changes);
  }

private:
  /// Layouts travel along the program: any rule with one of the axes may be
  /// the cause, and any rule of a layer that is named.
  bool concerns(size_t rule) const {
    const Layout &layout = distribution.rules[rule].layout;
    return namesLayer(rule) || llvm::any_of(axes, [&](unsigned axis) {
             return usesAxis(layout, axis);
           });
  }
  bool namesLayer(size_t rule) const {
    return llvm::any_of(layers, [&](const std::string &layer) {
      return distribution.rules[rule].key.find(layer + "/") !=
             std::string::npos;
    });
  }

  /// Dimensions of what a rule lays out: it may name fewer.
  size_t rankOf(size_t rule) const {
    size_t rank = distribution.rules[rule].layout.dims.size();
    for (const Variable &variable : model.variables)
      if (findRule(distribution, variable.path).rule == int(rule))
        rank = std::max(rank, variable.shape.size());
    for (const Node &node : model.nodes)
      if (findRule(distribution, model.layers[node.layer].name + "/output")
              .rule == int(rule))
        rank = std::max(rank, node.shape.size() + 1);
    return rank;
  }

  /// The layout without each axis, and with it in each other place; `every`
  /// axis of the mesh, or those of the collective that the layout has.
  std::vector<Layout> variants(const Layout &layout, bool every) const {
    std::vector<Layout> result;
    for (unsigned axis = 0; axis < distribution.mesh.axes.size(); ++axis) {
      bool used = usesAxis(layout, axis);
      if (!every && !(used && llvm::is_contained(axes, axis)))
        continue;
      Layout bare = without(layout, axis);
      if (used)
        result.push_back(bare);
      for (size_t dim = 0; dim < bare.dims.size(); ++dim) {
        Layout moved = bare;
        moved.dims[dim].push_back(wholeAxis(distribution.mesh, axis));
        if (moved.dims != layout.dims)
          result.push_back(std::move(moved));
      }
    }
    return result;
  }

  void changeRule(size_t rule) {
    const LayoutRule &old = distribution.rules[rule];
    Layout padded = old.layout;
    padded.dims.resize(rankOf(rule));
    std::string subject =
        "change \"" + old.key + "\" from " + json(old.layout) + " to ";
    for (const Layout &layout : variants(padded, namesLayer(rule))) {
      LayoutChange change{subject + json(layout), distribution};
      change.distribution.rules[rule].layout = layout;
      changes.push_back(std::move(change));
    }
    LayoutChange removal{"remove \"" + old.key + "\": " + json(old.layout),
                         distribution};
    auto &rules = removal.distribution.rules;
    rules.erase(rules.begin() + rule);
    if (llvm::StringRef(old.key).ends_with("/output"))
      changes.push_back(std::move(removal));
  }

  void addRule(const std::string &path, size_t rank) {
    if (findRule(distribution, path).rule >= 0)
      return;
    Layout layout = Layout::replicated(rank);
    bool isOutput = llvm::StringRef(path).ends_with("/output");
    // What a layer gives keeps the batch's axis.
    if (isOutput)
      layout.dims[0].push_back(wholeAxis(
          distribution.mesh, *distribution.mesh.find(distribution.batchAxis)));
    std::vector<Layout> layouts = variants(layout, /*every=*/true);
    if (isOutput)
      layouts.push_back(layout);
    for (const Layout &candidate : layouts) {
      LayoutChange change{"add \"" + path + "\": " + json(candidate),
                          distribution};
      if (distribution.dataParallel)
        change.text = "use ModelParallel and " + change.text;
      change.distribution.dataParallel = false;
      change.distribution.rules.push_back({path, candidate});
      changes.push_back(std::move(change));
    }
  }

  std::string json(const Layout &layout) const {
    return layoutAsJson(distribution.mesh, layout);
  }

  const Distribution &distribution;
  const Model &model;
  std::vector<unsigned> axes;
  std::set<std::string> layers;
  std::vector<LayoutChange> changes;
};

} // namespace

std::vector<LayoutChange>
weft::layoutChanges(const Distribution &distribution, const Model &model,
                    const CollectiveCost &collective) {
  return Changes(distribution, model, collective).collect();
}
