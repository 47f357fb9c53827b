//===- LayoutVariants.h - a layout with an axis elsewhere -------*- C++ -*-===//
//
//   variants of [{"data"}, {}] over data:   [{}, {"data"}] and [{}, {}]
//   variants of [{"data"}, {}] over model:  [{"data", "model"}, {}] and
//                                           [{"data"}, {"model"}]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_LAYOUTVARIANTS_H
#define WEFT_COMPILER_EXPLAIN_LAYOUTVARIANTS_H

#include "weft/layout/Layout.h"

#include <set>
#include <vector>

namespace weft {

bool usesAxis(const Layout &layout, unsigned axis);

/// The layouts that differ from `layout` in one of the axes: first with the
/// whole axis as the last axis of a dimension, then without the axis. An axis
/// with summands has none.
std::vector<Layout> layoutVariants(const Mesh &mesh, const Layout &layout,
                                   const std::set<unsigned> &axes);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_LAYOUTVARIANTS_H
