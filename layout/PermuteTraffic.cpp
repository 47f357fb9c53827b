//===- PermuteTraffic.cpp - bytes that a permute of members sends ---------===//

#include "weft/layout/PermuteTraffic.h"

#include "weft/base/Saturating.h"

#include <algorithm>
#include <vector>

using namespace weft;

int64_t weft::permuteBytes(std::span<const int64_t> sources, int64_t bytes) {
  std::vector<int64_t> receivers(sources.size());
  int64_t most = 0;
  for (size_t member = 0; member < sources.size(); ++member)
    if (sources[member] >= 0 && sources[member] != int64_t(member))
      most = std::max(most, ++receivers[sources[member]]);
  return saturatingMultiply(most, bytes);
}
