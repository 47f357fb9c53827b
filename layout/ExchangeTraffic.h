//===- ExchangeTraffic.h - bytes that the busiest device sends ------------===//
//
// 7 elements from "data"=2 to replicated: device 0 sends [0,4) to device 1 and
// gets [4,7), so
//
//   mostSent(mesh, [{"data"}], [{}], {7}) = 4
//
// If several devices hold a shard, requests are distributed to them in turn,
// the largest first, as in the runtime (runtime/collectives/Moves.cpp), so
// prediction and count agree. The first holder then sends the most. Its bytes
// follow from how many devices want how many elements, without a loop over
// pairs of devices.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_EXCHANGETRAFFIC_H
#define WEFT_LAYOUT_EXCHANGETRAFFIC_H

#include "weft/layout/Layout.h"

namespace weft {

/// Elements that the device that sends most sends to others. Requires layouts
/// without partial axes. The time is linear in the shards and in the positions
/// along the axes that a layout uses, not in pairs of devices.
int64_t mostSent(const Mesh &mesh, const Layout &from, const Layout &to,
                 std::span<const int64_t> shape);

} // namespace weft

#endif // WEFT_LAYOUT_EXCHANGETRAFFIC_H
