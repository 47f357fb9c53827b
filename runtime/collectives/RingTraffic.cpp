#include "weft/runtime/collectives/RingTraffic.h"

#include <algorithm>

namespace weft::runtime {

uint64_t ringBytes(const Collective &collective) {
  using Wide = unsigned __int128;
  Wide p = Wide(shardCount(collective.axes)), before = 0, after = 0;
  for (const Collective::Operand &o : collective.operands) {
    before += o.sourceBytes;
    after += o.targetBytes;
  }
  switch (collective.kind) {
  case CollectiveKind::all_reduce:
    return uint64_t((2 * (p - 1) * before + p - 1) / p);
  case CollectiveKind::all_gather:
    return uint64_t((p - 1) * before);
  case CollectiveKind::reduce_scatter:
    return uint64_t((p - 1) * after);
  case CollectiveKind::all_to_all:
    return uint64_t(((p - 1) * std::max(before, after) + p - 1) / p);
  default:
    return 0; // not sent around a ring
  }
}

} // namespace weft::runtime
