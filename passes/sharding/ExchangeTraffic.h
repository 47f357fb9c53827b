//===- ExchangeTraffic.h - what each device sends in an exchange ----------===//
//
// 7 elements from "data"=2 to replicated: device 0 sends [0,4) to device 1 and
// gets [4,7), so
//
//   exchangeSent(mesh, [{"data"}], [{}], {7}) = {4, 3}
//
// Where several devices hold a part, they send it in turn, as the runtime does
// (runtime/collectives/Moves.cpp): what is predicted here is counted there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_EXCHANGETRAFFIC_H
#define WEFT_PASSES_SHARDING_EXCHANGETRAFFIC_H

#include "weft/dialects/weft/Layout.h"

#include <vector>

namespace weft {

/// Elements that each device sends to others, by position. Requires layouts
/// without partial axes.
std::vector<int64_t> exchangeSent(const Mesh &mesh, const Layout &from,
                                  const Layout &to,
                                  llvm::ArrayRef<int64_t> shape);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_EXCHANGETRAFFIC_H
