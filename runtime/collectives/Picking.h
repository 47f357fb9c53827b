//===- Picking.h - elements at positions that are data ----------*- C++ -*-===//
//
// The blocks of a group are concatenated along a dimension; member k gets the
// elements at its positions, which are clamped to the array. With blocks 7 3 |
// 5 1 and positions 3 0 on member 0, member 0 gets 1 7.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_PICKING_H
#define WEFT_RUNTIME_COLLECTIVES_PICKING_H

#include "weft/runtime/collectives/Provider.h"

namespace weft::runtime {

/// Prepares the fetch of the positions in the second source.
std::unique_ptr<PreparedCollective> preparePick(const Collective &collective,
                                                int64_t dim);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_PICKING_H
