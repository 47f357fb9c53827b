//===- RingTraffic.cpp - bytes that a ring of devices sends ---------------===//

#include "weft/layout/RingTraffic.h"

#include <algorithm>
#include <limits>

using namespace weft;

/// numerator / p, rounded up.
static int64_t share(__int128 numerator, int64_t p) {
  __int128 most = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(most, (numerator + p - 1) / p));
}

int64_t weft::ringBytes(RingKind kind, int64_t p, int64_t before,
                        int64_t after) {
  __int128 others = p - 1;
  switch (kind) {
  case RingKind::AllReduce:
    return share(2 * others * before, p);
  case RingKind::AllGather:
    return share(others * before, 1);
  case RingKind::ReduceScatter:
    return share(others * after, 1);
  case RingKind::AllToAll:
    return share(others * std::max(before, after), p);
  }
  return 0;
}
