//===- ExchangeTraffic.h - what the busiest device sends in an exchange ---===//
//
// 7 elements from "data"=2 to replicated: device 0 sends [0,4) to device 1 and
// gets [4,7), so
//
//   mostSent(mesh, [{"data"}], [{}], {7}) = 4
//
// Where several devices hold a shard, those that lack it ask them in turn, who
// wants the most first, as the runtime does (runtime/collectives/Moves.cpp):
// what is predicted here is counted there. The first holder then sends the
// most, and how much follows from how many devices want how many elements: no
// pair of devices is looked at.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_LAYOUT_EXCHANGETRAFFIC_H
#define WEFT_DIALECTS_LAYOUT_EXCHANGETRAFFIC_H

#include "weft/dialects/layout/Layout.h"

namespace weft {

/// Elements that the device that sends most sends to others. Requires layouts
/// without partial axes. Time grows with the shards and with the devices that
/// hold what they want themselves, not with pairs of them.
int64_t mostSent(const Mesh &mesh, const Layout &from, const Layout &to,
                 llvm::ArrayRef<int64_t> shape);

} // namespace weft

#endif // WEFT_DIALECTS_LAYOUT_EXCHANGETRAFFIC_H
