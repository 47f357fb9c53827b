//===- Placements.h - layers on parts of the mesh ---------------*- C++ -*-===//
//
// On a mesh of "branch"=2, "data"=4 the entry
//
//   "placements": {"axis": "branch",
//                  "layers": {"user_tower/.*": 0, "item_tower/.*": 1}}
//
// of a distribution file computes the layers of one tower on the devices with
// coordinate 0, and those of the other on the devices with coordinate 1, where
// their variables are, too. Keys are the paths of layers (`user_tower/d1` for one
// in the nested model user_tower) or patterns, as those of a layout map. A
// nested model's place is that of its layers without a key of their own. The
// other layers run on the whole mesh. An input that has no key is where all
// layers are that take it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PLACEMENTS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PLACEMENTS_H

#include "weft/compiler/frontends/keras/distribution/Distribution.h"

namespace weft::keras {

/// The places of a model's layers, by their numbers; none if the distribution
/// has no placements. An error names the key that matches no layer, or the layer
/// that two keys put on different coordinates of an axis.
Result<std::vector<LayerPlace>> resolvePlaces(const Distribution &distribution,
                                              const Model &model);

/// The places of calls, by their nodes: those of their layers. A layer that
/// several stages of a pipeline list is called in each: a call is in the first of
/// them that is not before what it reads. Inputs without a key are put where all
/// calls are that take them. An error names a stage with no call of the layer.
Result<std::vector<LayerPlace>> resolveCalls(const Distribution &distribution,
                                             const Model &model,
                                             std::vector<LayerPlace> &places);

/// Puts a layout on a place. An error names the tensor, if its layout splits it
/// over an axis that the place fixes.
Status putOn(const Mesh &mesh, const LayerPlace &place,
             const std::string &tensor, ResolvedLayout &layout);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PLACEMENTS_H
