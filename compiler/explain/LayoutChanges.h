//===- LayoutChanges.h - other annotations one could write ----*- C++ -*-===//
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
// Every rule that names one of the collective's axes is changed (layouts
// travel); variables and outputs of the layers that the collective names are
// tried on every axis of the mesh. Each change is one annotation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_LAYOUTCHANGES_H
#define WEFT_COMPILER_EXPLAIN_LAYOUTCHANGES_H

#include "weft/compiler/explain/Explain.h"
#include "weft/compiler/frontends/keras/Distribution.h"

namespace weft {

struct LayoutChange {
  std::string text; ///< what a person would do
  keras::Distribution distribution;
};

std::vector<LayoutChange> layoutChanges(const keras::Distribution &distribution,
                                        const keras::Model &model,
                                        const CollectiveCost &collective);

/// As a distribution file has it: [null, ["data", "model"]].
std::string layoutAsJson(const Mesh &mesh, const Layout &layout);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_LAYOUTCHANGES_H
