//===- ExchangeTraffic.cpp - what each device sends in an exchange --------===//

#include "weft/passes/sharding/ExchangeTraffic.h"

#include <map>

using namespace weft;

namespace {
/// One shard and the devices that hold it, asked in turn.
struct Shard {
  Box held;
  llvm::SmallVector<int64_t, 4> holders;
  size_t served = 0;
};
} // namespace

std::vector<int64_t> weft::exchangeSent(const Mesh &mesh, const Layout &from,
                                        const Layout &to,
                                        llvm::ArrayRef<int64_t> shape) {
  SubAxes axes;
  for (const SubAxes &dim : from.dims)
    axes.append(dim.begin(), dim.end());
  std::map<int64_t, Shard> shards;
  for (int64_t p = 0; p < mesh.size(); ++p) {
    Shard &shard = shards[coordinate(mesh, p, axes)];
    if (shard.holders.empty())
      shard.held = own(mesh, from, shape, p);
    shard.holders.push_back(p);
  }
  std::vector<int64_t> sent(mesh.size(), 0);
  for (int64_t p = 0; p < mesh.size(); ++p) {
    Box wanted = own(mesh, to, shape, p);
    int64_t mine = coordinate(mesh, p, axes);
    for (auto &[number, shard] : shards) {
      int64_t elements = volume(intersect(wanted, shard.held));
      if (elements == 0 || number == mine)
        continue;
      sent[shard.holders[shard.served++ % shard.holders.size()]] += elements;
    }
  }
  return sent;
}
