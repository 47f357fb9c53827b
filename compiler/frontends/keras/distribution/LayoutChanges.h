//===- LayoutChanges.h - other annotations one could write ------*- C++ -*-===//
//
// For the collective `all_reduce model d2/output` of a model with the rule
// "d1/kernel": [null, "model"], the changes are
//
//   change "d1/kernel" from [null, "model"] to [null, null]
//   change "d1/kernel" from [null, "model"] to ["model", null]
//   add "d2/kernel": ["model", null]
//   add "d2/kernel": [null, "model"]
//   ...
//
// Every rule that names one of the collective's axes is changed, as layouts
// propagate; float32 variables and outputs of the layers that the collective
// names are tried on every axis of the mesh, and rules of outputs are removed.
// Each change is one annotation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_LAYOUTCHANGES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_LAYOUTCHANGES_H

#include "weft/compiler/explain/Explain.h"
#include "weft/compiler/frontends/keras/distribution/Distribution.h"

#include <set>

namespace weft {

struct LayoutChange {
  enum class Kind { Add, Change, Remove };
  Kind kind = Kind::Add;
  std::string text;       ///< the description of the change
  std::string annotation; ///< the changed or removed rule; empty for Add
  int rule = -1;          ///< its index; -1 for Add
  keras::LayoutRule wanted;

  keras::Distribution applied(keras::Distribution distribution) const;
};

class LayoutChanges {
public:
  LayoutChanges(const keras::Distribution &distribution
                [[clang::lifetimebound]],
                const keras::ResolvedLayouts &resolved [[clang::lifetimebound]],
                const keras::Model &model);

  /// The changes that may concern a collective: of rules for the layers that it
  /// names, of other rules, then new rules.
  std::vector<LayoutChange> of(const CollectiveCost &collective) const;

private:
  struct Tensor {
    std::string layer;
    size_t rank = 0;
    bool isOutput = false;
    bool hasRule = false;
    bool canBeAnnotated = true;
  };
  struct Selection {
    std::set<unsigned> axes;
    std::set<std::string> layers;
  };
  Selection select(const CollectiveCost &collective) const;
  bool namesLayer(size_t rule, const Selection &selection) const;
  void changeRule(size_t rule, const Selection &selection,
                  std::vector<LayoutChange> &changes) const;
  void addRule(const std::string &path, const Tensor &tensor,
               std::vector<LayoutChange> &changes) const;
  std::set<unsigned> everyAxis() const;
  std::string json(const Layout &layout) const;

  const keras::Distribution &distribution;
  const keras::ResolvedLayouts &resolved;
  std::vector<std::string> paths; ///< in the model's order
  std::map<std::string, Tensor> tensors;
};

/// A layout as in a distribution file: [null, ["data", "model"]].
std::string layoutAsJson(const Mesh &mesh, const Layout &layout);

} // namespace weft

#endif // WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_LAYOUTCHANGES_H
